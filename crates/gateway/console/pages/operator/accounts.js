// Accounts: find one, make one, grant quota, and what else is done with one; each has a page of its own.
import { html, useState } from "../../lib.js";
import { many, t } from "../../words.js";
import { count } from "../../show.js";
import { go, href } from "../../route.js";
import { Ask } from "../../parts/ask.js";
import { RowDeeds } from "../../parts/row_menu.js";
import { Secret } from "../../parts/secret.js";
import { Paged, Time, usePages } from "../../parts/table.js";
import { Limits, asksOf, look } from "./account_forms.js";

/** By what accounts are listed. */
const ORDERS = ["created", "email", "balance"];

/** @param {{ who: Runs, enter: (who: Runs) => void, route: Route }} given */
export function Accounts({ who, enter, route }) {
  const text = route.query.q || "";
  const order = ORDERS.includes(route.query.sort) ? route.query.sort : "created";
  const asked = [
    ...(order === "created" ? [] : [`sort=${order}`]),
    ...(text.trim() ? [`q=${encodeURIComponent(text.trim())}`] : []),
  ];
  const pages = usePages(`/admin/v1/accounts${asked.length ? `?${asked.join("&")}` : ""}`, 25);
  const address = (/** @type {string} */ q, /** @type {string} */ sort) =>
    go("operator/accounts", { q, sort: sort === "created" ? "" : sort }, { replace: true });
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [limits, setLimits] = useState(/** @type {Wire.Account | null} */ (null));
  const [secret, setSecret] = useState("");
  const [problem, setProblem] = useState("");
  const may = who.operator.role !== "viewer";
  const asks = asksOf({ done: pages.again, tell: setSecret });
  return html`<header class="head"><div><h1>${t("accounts")}</h1>
    <p class="dim">${pages.rows ? many(pages.total, "accountOne", "accountMany", count(pages.total)) : " "}</p></div>
      <input type="search" class="filter" placeholder=${t("searchAccounts")} aria-label=${t("searchAccounts")}
        value=${text}
        onInput=${(event) => address(event.target.value, order)} />
      <select class="filter order" aria-label=${t("sortBy")} value=${order}
        onChange=${(event) => address(text, event.target.value)}>
        ${ORDERS.map((one) => html`<option value=${one}>${t(`sort.${one}`)}</option>`)}</select>
      ${may && html`<button class="button" onClick=${() => setAsking(asks.create())}>${t("newAccount")}</button>`}
        </header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <section class="card flush">
      <${Paged} pages=${pages} caption=${t("accounts")} empty=${text ? t("nothingFound") : ""} columns=${
        /** @type {Column<Wire.Account>[]} */ ([
          {
            title: t("email"),
            show: (row) => html`<a class="break" href=${href(`operator/accounts/${row.id}`)}><b>${row.email}</b></a>
        ${row.disabled ? html` <span class="tag exhausted">${t("suspended")}</span>` : ""}
          ${row.group && row.group !== "default" ? html` <span class="tag">${row.group}</span>` : ""}
            <span class="dim block code clip" title=${row.id}>${row.id}</span>`,
          },
          { title: t("balance"), number: true, show: (row) => count(row.balance) },
          { title: t("Held"), number: true, show: (row) => count(row.freeze_balance) },
          { title: t("queue"), number: true, show: (row) => count(row.max_queue) },
          { title: t("since"), show: (row) => html`<${Time} at=${row.created_at} />` },
          {
            title: "",
            show: (row) =>
              may &&
              html`<${RowDeeds} name=${row.email} items=${[
                { text: t("limits"), act: () => setLimits(row) },
                { text: t("keys"), act: () => go(`operator/accounts/${row.id}`, { part: "keys" }) },
                { text: t("look"), act: () => look(row, enter).catch((error) => setProblem(error.message)) },
                {
                  text: row.disabled ? t("enable") : t("disable"),
                  danger: !row.disabled,
                  act: () => setAsking(asks.suspend(row)),
                },
              ]}><button class="button quiet" onClick=${() => setAsking(asks.credit(row))}>${t("credit")}</button><//>`,
          },
        ])
      } /></section>
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}
    ${limits && html`<${Limits} row=${limits} close=${() => setLimits(null)} saved=${pages.again} />`}
    ${secret && html`<${Secret} title=${t("newKey")} value=${secret} close=${() => setSecret("")} />`}`;
}
