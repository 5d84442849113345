// Account: quota and what it went into, every movement, keys, callbacks, links to results, own accounts at vendors.
import { html, useEffect, useState } from "../lib.js";
import { t } from "../words.js";
import { count } from "../show.js";
import { get, post, remove } from "../api.js";
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
import { Buy } from "./account/buy.js";
import { Receipts } from "./account/receipts.js";
import { AccountNotices } from "./account/notices.js";
import { Papers } from "./account/statements.js";

/** @type {Record<string, (given: any) => unknown>} */
const PARTS = {
  usage: Usage,
  buy: Buy,
  ledger: Ledger,
  statements: Papers,
  receipts: Receipts,
  keys: Keys,
  notices: AccountNotices,
  callbacks: Callbacks,
  links: Links,
  custody: Custody,
};
/** Those that are only there where the operator offers something of the kind. */
const OFFERED = ["buy", "receipts"];

/** @param {{ who: Owner, route: Route, refresh: () => void }} given */
export function Account({ who, route, refresh }) {
  // Payers come back to `?buy`: some payment gateways take no `=` in an address.
  const named = route.query.part ?? Object.keys(route.query)[0];
  const part = PARTS[named] ? named : "usage";
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
  const [offered, setOffered] = useState(/** @type {string[]} */ ([]));
  useEffect(() => {
    const has = (/** @type {Promise<boolean>} */ asked) => asked.catch(() => false);
    Promise.all([
      has(get("/account/v1/products").then(({ data }) => data.products.length > 0 && data.providers.length > 0)),
      has(get("/account/v1/receipts?limit=1").then(({ total }) => total > 0)),
    ]).then((there) => setOffered(OFFERED.filter((_, place) => there[place])));
  }, []);
  const shown = Object.keys(PARTS).filter((one) => !OFFERED.includes(one) || offered.includes(one) || one === part);
  /** A plan that was bought is its buyer's to end. @param {Wire.AccountPlan} plan */
  const endPlan = (plan) =>
    plan.byPayment &&
    !plan.ends &&
    html`<button type="button" class="button quiet danger" onClick=${() => setAsking(ending(plan))}>
      ${t("planEnd")}</button>`;
  /** @param {Wire.AccountPlan} plan @returns {Asking} */
  const ending = (plan) => ({
    title: t("planEndTitle", plan.plan),
    text: t("planEndOwnText"),
    action: t("planEnd"),
    danger: true,
    fields: [],
    act: async () => {
      await remove("/account/v1/plan");
      setSeen(seen + 1);
    },
  });
  useEffect(() => {
    document.querySelector(".tabs .active")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [part]);
  return html`<header class="head"><div><h1>${count(who.account.balance)} ${t("quotaFree")}</h1>
    <p class="dim break">${who.account.email} · ${count(who.account.freeze_balance)} ${t("heldBy")}</p></div></header>
    <nav class="tabs" aria-label=${t("account")}>
      ${shown.map(
        (one) => html`<a class=${one === part ? "active" : ""} aria-current=${one === part ? "page" : undefined}
          href=${href("account", { part: one === "usage" ? "" : one })}>${t(one)}</a>`,
      )}</nav>
    ${
      part === "usage" &&
      html`<${Plan} path="/account/v1/plan" seen=${seen} deeds=${who.looking ? undefined : endPlan} />
      <${Credits} path="/account/v1/credits" seen=${seen}>
        ${
          !who.looking &&
          html`<button type="button" class="button quiet" onClick=${() => setAsking(redeem)}>${t("redeem")}</button>`
        }<//>`
    }
    <${Part} who=${who} route=${route} />
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}`;
}
