// The reference: one page per group of operations, the errors by code, the guides; drawn from the service's own
// document.
import { html, render, useEffect, useState } from "../lib.js";
import { language, local, t } from "../words.js";
import { get } from "../api.js";
import { operationsOf, resolver } from "../catalogue.js";
import { wear } from "../parts/menu.js";
import { Errors, codesOf } from "./errors.js";
import { Find } from "./find.js";
import { Group } from "./group.js";
import { Guide } from "./guide.js";
import { Welcome } from "./welcome.js";

const BASE = "/docs";
/** @param {string} title */
export const slug = (title) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-");

const read = () => location.pathname.slice(BASE.length).split("/").filter(Boolean).map(decodeURIComponent);

/** @typedef {{ document: Description | null, guides: Guide[], problem: string }} Read */

function useDocument() {
  const [state, setState] = useState(/** @type {Read} */ ({ document: null, guides: [], problem: "" }));
  useEffect(() => {
    Promise.all([get("/openapi.json"), get("/docs/guides.json").catch(() => [])]).then(
      ([document, guides]) => setState({ document, guides, problem: "" }),
      (error) => setState({ document: null, guides: [], problem: error.message }),
    );
  }, []);
  return state;
}

function Docs() {
  const { document: api, guides, problem } = useDocument();
  const [path, setPath] = useState(read);
  useEffect(() => {
    const moved = () => setPath(read());
    const click = (/** @type {MouseEvent} */ event) => {
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
      if (
        url.origin !== location.origin ||
        !(url.pathname === BASE || url.pathname.startsWith(`${BASE}/`)) ||
        /\.(json|md)$/.test(url.pathname)
      )
        return;
      if (url.pathname === location.pathname && url.hash) return;
      event.preventDefault();
      history.pushState(null, "", url.pathname + url.hash);
      moved();
      if (!url.hash) scrollTo(0, 0);
    };
    addEventListener("popstate", moved);
    document.addEventListener("click", click);
    return () => {
      removeEventListener("popstate", moved);
      document.removeEventListener("click", click);
    };
  }, []);
  useEffect(() => {
    if (!api || !location.hash) return;
    document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  }, [api, path.join("/")]);
  if (!api)
    return html`<main class="docs-main" id="main">
    ${
      problem
        ? html`<p class="problem" role="alert">${problem}</p>`
        : html`<div class="card waiting" aria-busy="true"></div>`
    }</main>`;
  const resolve = resolver(api);
  const operations = operationsOf(api);
  const groups = api.tags.map((tag) => tag.name).filter((name) => operations.some((one) => one.tags[0] === name));
  const makes = (/** @type {string} */ name) => operations.some((one) => one.tags[0] === name && one["x-makes"]);
  const [kind = "", name = ""] = path;
  const group = groups.find((one) => slug(one) === kind);
  /** @param {string} to @param {string} text @param {boolean} active @param {string} [lang] */
  const link = (to, text, active, lang) => html`<a class=${`room${active ? " active" : ""}`} lang=${lang}
    aria-current=${active ? "page" : undefined} href=${`${BASE}${to}`}>${text}</a>`;
  // Families are called the same as in the console; the names of everything else are English.
  const list = (/** @type {string[]} */ some) =>
    some.map((one) => link(`/${slug(one)}`, local(one), one === group, makes(one) ? undefined : "en"));
  const title =
    (group && local(group)) ||
    (kind === "errors" ? t("docs.errors") : kind === "guide" ? guides.find((one) => one.name === name)?.title : "") ||
    t("docs.title");
  document.title = `${title} · Atelier`;
  return html`<a class="skip" href="#main">${t("skip")}</a>
    <nav class="rooms docs-rooms" aria-label=${t("docs")}>
      <a class="brand" href="/docs">Atelier<b>.</b></a>
      ${link("", t("docs.start"), !kind)}
      <h2 class="rooms-title">${t("docs.make")}</h2>${list(groups.filter(makes))}
      <h2 class="rooms-title">${t("docs.around")}</h2>${list(groups.filter((one) => !makes(one)))}
        ${link("/errors", t("docs.errors"), kind === "errors")}
      ${
        guides.length > 0 &&
        html`<h2 class="rooms-title">${t("docs.guides")}</h2>
        ${guides.map((one) => link(`/guide/${one.name}`, one.title, kind === "guide" && name === one.name, "en"))}`
      }
    </nav>
    <header class="top">
      <${Find} operations=${operations} resolve=${resolve} guides=${guides} codes=${codesOf(api)} slug=${slug} />
        <a class="button quiet" href="/openapi.json">openapi.json</a>
          <a class="button quiet" href="/console/">${t("docs.console")}</a></header>
    <main id="main" class="docs-main" tabindex="-1">
      ${language !== "en" && kind !== "errors" && html`<p class="docs-language" role="note">${t("docs.inEnglish")}</p>`}
      ${
        group &&
        html`<${Group} key=${group} title=${group} operations=${operations.filter((one) => one.tags[0] === group)}
          resolve=${resolve} makes=${makes(group)} />`
      }
      ${kind === "errors" && html`<${Errors} api=${api} />`}
      ${kind === "guide" && html`<${Guide} key=${name} name=${name} />`}
      ${
        !group &&
        kind !== "errors" &&
        kind !== "guide" &&
        html`<${Welcome} api=${api} groups=${groups.filter(makes)} slug=${slug} operations=${operations} />`
      }
    </main>`;
}

wear();
render(html`<${Docs} />`, /** @type {Element} */ (document.getElementById("app")));
