// Which page the address names. Filters live in the address, so that every view can be kept and sent.
import { useEffect, useState } from "./lib.js";

const BASE = "/console/";
const listeners = new Set();

function read() {
  const path = location.pathname.startsWith(BASE) ? location.pathname.slice(BASE.length) : "";
  const [page = "", ...rest] = path.split("/").filter(Boolean);
  return {
    page: page || "create",
    rest: rest.map(decodeURIComponent),
    query: Object.fromEntries(new URLSearchParams(location.search)),
  };
}

const tell = () => {
  for (const listener of listeners) listener(read());
};
addEventListener("popstate", tell);

/** The address of a page. @param {string} page */
export function href(page, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(kept).toString();
  return BASE + page + (text ? `?${text}` : "");
}

/**
 * Goes to a page; the browser's back button leads back.
 * @param {string} page @param {Record<string, unknown>} [query]
 */
export function go(page, query, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", href(page, query));
  tell();
  if (!replace) scrollTo(0, 0);
}

/** Where we are, and again whenever that changes. */
export function useRoute() {
  const [route, setRoute] = useState(read);
  useEffect(() => {
    listeners.add(setRoute);
    return () => listeners.delete(setRoute);
  }, []);
  return route;
}

/** Turns clicks on links of the console into changes of page without a load. @param {MouseEvent} event */
export function followLinks(event) {
  const link = /** @type {HTMLAnchorElement | null} */ (/** @type {Element} */ (event.target).closest?.("a[href]"));
  if (
    !link ||
    event.defaultPrevented ||
    event.button ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    link.target
  )
    return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || !url.pathname.startsWith(BASE)) return;
  event.preventDefault();
  history.pushState(null, "", url.pathname + url.search);
  tell();
  scrollTo(0, 0);
}
