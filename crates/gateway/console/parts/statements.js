// The months of an account that are over, each with its statement as a table and as a page to be printed.
import { html } from "../lib.js";
import { language, t } from "../words.js";
import { count, monthName } from "../show.js";
import { Paged, Time, usePages } from "./table.js";

/** @param {{ base: string }} given */
export function Statements({ base }) {
  const pages = usePages(base, 24);
  return html`<section class="card flush"><header class="inner"><div><h2>${t("statements")}</h2>
      <p class="dim">${t("statementsText")}</p></div></header>
    <${Paged} pages=${pages} caption=${t("statements")} empty=${t("noStatements")} columns=${
      /** @type {Column<Wire.StatementRow>[]} */ ([
        { title: t("month"), show: (row) => html`<b>${monthName(row.month)}</b>` },
        { title: t("opening"), number: true, show: (row) => (row.closed ? count(row.opening) : "–") },
        { title: t("credited"), number: true, show: (row) => (row.closed ? count(row.credited) : "–") },
        { title: t("consumed"), number: true, show: (row) => (row.closed ? count(row.charged) : "–") },
        { title: t("closing"), number: true, show: (row) => (row.closed ? count(row.closing) : "–") },
        {
          title: t("status"),
          show: (row) =>
            row.closed
              ? html`<span class="tag delivered" title=${row.sha256}>${t("books.closed")}</span>
          <span class="dim"><${Time} at=${row.madeAt} /></span>`
              : html`<span class="tag due">${t("notMade")}</span>`,
        },
        {
          title: "",
          show: (row) => html`<span class="actions">
          <a class="button quiet" target="_blank" rel="noreferrer"
            href=${`${base}/${row.month}?format=html&language=${language}`}>${t("print")}</a>
          <a class="button quiet" href=${`${base}/${row.month}?format=csv`} download>CSV</a></span>`,
        },
      ])
    } /></section>`;
}
