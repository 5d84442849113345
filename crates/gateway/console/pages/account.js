// Account: quota and what it went into, every movement, keys, callbacks, links to results, own accounts at vendors.
import { html, useEffect, useState } from "../lib.js";
import { t } from "../words.js";
import { count } from "../show.js";
import { post } from "../api.js";
import { href } from "../route.js";
import { Ask } from "../parts/ask.js";
import { Credits } from "../parts/credits.js";
import { Plan } from "../parts/plan.js";
import { Usage } from "./account/usage.js";
import { Ledger } from "./account/ledger.js";
import { Keys } from "./account/keys.js";
import { Callbacks } from "./account/callbacks.js";
import { Custody } from "./account/custody.js";
import { Links } from "./account/links.js";

/** @type {Record<string, (given: any) => unknown>} */
const PARTS = { usage: Usage, ledger: Ledger, keys: Keys, callbacks: Callbacks, links: Links, custody: Custody };

/** @param {{ who: Owner, route: Route, refresh: () => void }} given */
export function Account({ who, route, refresh }) {
  const part = PARTS[route.query.part] ? route.query.part : "usage";
  const Part = PARTS[part];
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [seen, setSeen] = useState(0);
  /** @type {Asking} */
  const redeem = {
    title: t("redeem"),
    text: t("redeemText"),
    action: t("redeem"),
    fields: [{ name: "code", label: t("code"), required: true, placeholder: "7K3M-9QXA-02ZT-C4VE" }],
    act: async (given) => {
      await post("/account/v1/vouchers", given);
      setSeen(seen + 1);
      refresh();
    },
  };
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
    ${
      part === "usage" &&
      html`<${Plan} path="/account/v1/plan" />
      <${Credits} path="/account/v1/credits" seen=${seen}>
        ${
          !who.looking &&
          html`<button type="button" class="button quiet" onClick=${() => setAsking(redeem)}>${t("redeem")}</button>`
        }<//>`
    }
    <${Part} who=${who} route=${route} />
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}`;
}
