// The frame around every page: rooms on the left (below on a phone), search and quota on top.
import { html, useEffect, useRef, useState } from "../lib.js";
import { t } from "../words.js";
import { count } from "../show.js";
import { go, href } from "../route.js";
import { Icon } from "./icon.js";
import { ROOMS, OFFICE } from "./rooms.js";
import { Palette } from "./palette.js";
import { Keyboard } from "./keyboard.js";

const Room = ({ room, active, prefix = "" }) => html`
  <a class=${`room${active ? " active" : ""}`} href=${href(prefix + room.page)} aria-current=${active ? "page" : undefined}>
    <${Icon} name=${room.icon} /><span>${t(room.page)}</span>
  </a>`;

/** A line that says that something is lost or done; it goes by itself. */
export function Notices({ notices }) {
  return html`<div class="notices" role="status" aria-live="polite">
    ${notices.map((notice) => html`<p key=${notice.id} class=${`notice ${notice.kind}`}>${notice.text}</p>`)}
  </div>`;
}

export function Shell({ who, route, leave, children }) {
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  const begun = useRef("");
  useEffect(() => {
    const press = (event) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setPalette((open) => !open);
        return;
      }
      if (event.target.closest?.("input, textarea, select, [contenteditable]") || event.metaKey || event.ctrlKey || event.altKey) return;
      if (begun.current === "g") {
        begun.current = "";
        const goal = { l: "library", a: "account", o: "operator/overview", b: "operator/backends", c: "create" }[event.key];
        if (goal) go(goal);
        return;
      }
      if (event.key === "g") { begun.current = "g"; setTimeout(() => { begun.current = ""; }, 1200); }
      else if (event.key === "c") go("create");
      else if (event.key === "?") setHelp(true);
      else if (event.key === "/") { event.preventDefault(); setPalette(true); }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  const here = route.page === "operator" ? `operator/${route.rest[0] || "overview"}` : route.page === "job" ? "library" : route.page;
  return html`
    <a class="skip" href="#main">Skip to the page</a>
    <nav class="rooms" aria-label="Rooms">
      <a class="brand" href=${href("create")}>Atelier<b>.</b></a>
      ${who.account && ROOMS.map((room) => html`<${Room} key=${room.page} room=${room} active=${here === room.page} />`)}
      ${who.operator && html`<h2 class="rooms-title">${t("operator")}</h2>
        ${OFFICE.map((room) => html`<${Room} key=${room.page} room=${room} prefix="operator/" active=${here === `operator/${room.page}`} />`)}`}
    </nav>
    <header class="top">
      <button class="search" onClick=${() => setPalette(true)}>
        <${Icon} name="search" /><span>${t("search")}</span><kbd aria-hidden="true">${navigator.platform.startsWith("Mac") ? "⌘K" : "Ctrl K"}</kbd>
      </button>
      ${who.account && html`<a class="pill" href=${href("account")} title=${who.account.email}>
        <b>${count(who.account.balance)}</b> ${t("quota")}<span class="dim"> · ${count(who.account.freeze_balance)} ${t("held")}</span></a>`}
      <a class="button quiet docs-link" href="/docs">${t("docs")}</a>
      <button class="button quiet" onClick=${leave}>${t("signOut")}</button>
    </header>
    <main id="main" tabindex="-1">${children}</main>
    ${palette && html`<${Palette} who=${who} close=${() => setPalette(false)} />`}
    ${help && html`<${Keyboard} close=${() => setHelp(false)} />`}`;
}
