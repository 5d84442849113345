// Account: quota and what it went into, every movement, keys, callbacks, links to results, own accounts at vendors.
import { html, useEffect } from "../lib.js";
import { t } from "../words.js";
import { count } from "../show.js";
import { href } from "../route.js";
import { Usage } from "./account/usage.js";
import { Ledger } from "./account/ledger.js";
import { Keys } from "./account/keys.js";
import { Callbacks } from "./account/callbacks.js";
import { Custody } from "./account/custody.js";
import { Links } from "./account/links.js";

const PARTS = { usage: Usage, ledger: Ledger, keys: Keys, callbacks: Callbacks, links: Links, custody: Custody };

export function Account({ who, route }) {
  const part = PARTS[route.query.part] ? route.query.part : "usage";
  const Part = PARTS[part];
  useEffect(() => {
    document.querySelector(".tabs .active")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [part]);
  return html`<header class="head"><div><h1>${count(who.account.balance)} ${t("quotaFree")}</h1>
    <p class="dim break">${who.account.email} · ${count(who.account.freeze_balance)} ${t("heldBy")}</p></div></header>
    <nav class="tabs" aria-label=${t("account")}>
      ${Object.keys(PARTS).map(
        (one) => html`<a class=${one === part ? "active" : ""} aria-current=${one === part ? "page" : undefined}
          href=${href("account", { part: one === "usage" ? "" : one })}>${t(one)}</a>`,
      )}</nav>
    <${Part} who=${who} route=${route} />`;
}
