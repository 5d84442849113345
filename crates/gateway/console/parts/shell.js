// The frame around every page: rooms on the left (below on a phone), search and quota on top.
import { html, useEffect, useRef, useState } from "../lib.js";
import { maybe, t } from "../words.js";
import { count } from "../show.js";
import { onConnection } from "../api.js";
import { go, href } from "../route.js";
import { Finished } from "./finished.js";
import { Icon } from "./icon.js";
import { ROOMS, OPERATOR_PAGES } from "./rooms.js";
import { later } from "./later.js";
import { Menu } from "./menu.js";

const Palette = later(() => import("./palette.js").then((part) => part.Palette));
const Keyboard = later(() => import("./keyboard.js").then((part) => part.Keyboard));
/** @type {Record<string, string>} */
const GOALS = {
  l: "library",
  a: "account",
  o: "operator/overview",
  b: "operator/backends",
  m: "operator/models",
  j: "operator/jobs",
  c: "create",
};

/** @param {{ room: Room, active: string, prefix?: string }} given */
const Room = ({ room, active, prefix = "" }) => html`
  <a class=${`room${active ? " active" : ""}`} href=${href(prefix + room.page)}
    aria-current=${active ? "page" : undefined}>
    <${Icon} name=${room.icon} /><span>${t(room.page)}</span>
  </a>`;

/** Says that the connection is lost for as long as it is. */
function Connection() {
  const [here, setHere] = useState(true);
  useEffect(() => {
    let soon = 0;
    // What heals within a second is not worth a word.
    const leave = onConnection((now) => {
      clearTimeout(soon);
      soon = window.setTimeout(() => setHere(now), now ? 0 : 900);
    });
    return () => {
      clearTimeout(soon);
      leave();
    };
  }, []);
  return html`<div class="notices" role="status" aria-live="polite">
    ${!here && html`<p class="notice">${t("lost")}</p>`}</div>`;
}

/**
 * @param {{ who: Who, route: Route, leave: (everywhere: boolean) => void, back: () => void, enter: (who: Who) => void,
 * children: Hole }} given
 */
export function Shell({ who, route, leave, back, enter, children }) {
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  const begun = useRef("");
  useEffect(() => {
    const press = (/** @type {KeyboardEvent} */ event) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setPalette((open) => !open);
        return;
      }
      if (
        /** @type {Element} */ (event.target).closest?.("input, textarea, select, [contenteditable], dialog") ||
        event.metaKey ||
        event.ctrlKey ||
        event.altKey
      )
        return;
      if (begun.current === "g") {
        begun.current = "";
        const goal = GOALS[event.key];
        if (goal && (goal.startsWith("operator/") ? who.operator && !who.looking : who.account)) go(goal);
        return;
      }
      if (event.key === "g") {
        begun.current = "g";
        setTimeout(() => {
          begun.current = "";
        }, 1200);
      } else if (event.key === "c" && who.account && !who.looking) go("create");
      else if (event.key === "?") setHelp(true);
      else if (event.key === "/") {
        event.preventDefault();
        setPalette(true);
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [Boolean(who.account), Boolean(who.operator), Boolean(who.looking)]);
  useEffect(() => {
    document.querySelector(".rooms .active")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [route.page, route.rest[0]]);
  // Who goes to another page begins at its top, also with the keyboard; filters change the address without leaving the
  // page.
  const at = `${route.page}/${route.rest.join("/")}`;
  const was = useRef(at);
  useEffect(() => {
    const name = route.page === "operator" ? route.rest[0] || "overview" : route.page === "job" ? "Job" : route.page;
    if (was.current === at || route.page !== "job") document.title = `${maybe(name) || t("noPage")} · Atelier`;
    if (was.current !== at) document.getElementById("main")?.focus({ preventScroll: true });
    was.current = at;
  }, [at]);
  const here =
    route.page === "operator"
      ? `operator/${route.rest[0] || "overview"}`
      : route.page === "job"
        ? "library"
        : route.page;
  return html`
    <a class="skip" href="#main">${t("skip")}</a>
    <nav class="rooms" aria-label=${t("rooms")}>
      <a class="brand" href=${href(who.account ? "create" : who.operator ? "operator/overview" : "account")}>
        Atelier<b>.</b></a>
      ${
        who.account &&
        ROOMS.filter((room) => !who.looking || room.page !== "create").map(
          (room) => html`<${Room} key=${room.page} room=${room} active=${here === room.page} />`,
        )
      }
      ${
        who.operator &&
        !who.looking &&
        html`<h2 class="rooms-title">${t("operator")}</h2>
        ${OPERATOR_PAGES.map(
          (room) =>
            html`<${Room} key=${room.page} room=${room} prefix="operator/"
              active=${here === `operator/${room.page}`} />`,
        )}`
      }
    </nav>
    <header class="top">
      <button class="search" onClick=${() => setPalette(true)}>
        <${Icon} name="search" /><span>${t("search")}</span>
          <kbd aria-hidden="true">${navigator.platform.startsWith("Mac") ? "⌘K" : "Ctrl K"}</kbd>
      </button>
      ${
        who.account &&
        html`<a class="pill" href=${href("account")} title=${who.account.email}>
        <b>${count(who.account.balance)}</b> ${t("quota")}
          <span class="dim">·  ${count(who.account.freeze_balance)} ${t("held")}</span></a>`
      }
      <a class="button quiet docs-link" href="/docs">${t("docs")}</a>
      <${Menu} who=${who} leave=${leave} enter=${enter} keyboard=${() => setHelp(true)} />
    </header>
    <main id="main" tabindex="-1">
      ${
        who.looking &&
        who.operator &&
        html`<p class="looking" role="status"><span>${t("looking", who.account?.email)}</span>
          <button class="button quiet" onClick=${back}>${t("stopLooking")}</button></p>`
      }${children}</main>
    <${Connection} />
    ${who.account && html`<${Finished} />`}
    ${palette && html`<${Palette} who=${who} close=${() => setPalette(false)} />`}
    ${help && html`<${Keyboard} who=${who} close=${() => setHelp(false)} />`}`;
}
