// The books: months that are closed, whose are open, and exports over all accounts.
import { html, useState } from "../../lib.js";
import { language, t } from "../../words.js";
import { count, monthName } from "../../show.js";
import { post } from "../../api.js";
import { href } from "../../route.js";
import { Ask } from "../../parts/ask.js";
import { Exports } from "../../parts/exports.js";
import { Paged, Time, usePages } from "../../parts/table.js";

const STATES = ["all", "open", "refused", "closed"];
/** @type {Record<string, string>} */
const MARKS = { closed: "delivered", open: "due", refused: "exhausted" };

/** How far a month is. @param {{ row: Wire.CloseRow }} given */
const Far = ({ row }) => {
  const open = row.accounts - row.closed;
  if (row.begun_at && !row.finished_at) return html`<span class="tag sending">${t("books.closing")}</span>`;
  if (row.refused > 0) return html`<span class="tag exhausted">${t("books.someRefused", count(row.refused))}</span>`;
  if (open > 0) return html`<span class="tag due">${t("books.someOpen", count(open))}</span>`;
  return html`<span class="tag delivered">${t("books.closed")}</span>`;
};

/** Whose books of a month are closed. @param {{ month: string, state: string }} given */
function Accounts({ month, state }) {
  const asked = state === "all" ? "" : `?state=${state}`;
  const pages = usePages(`/admin/v1/statements/${month}${asked}`, 25);
  const paper = (/** @type {string} */ id, /** @type {string} */ more) =>
    `/admin/v1/accounts/${encodeURIComponent(id)}/statements/${month}?${more}`;
  return html`<section class="card flush"><header class="inner"><h2>${monthName(month)}</h2>
      <nav class="chips" aria-label=${t("filters")}>${STATES.map(
        (one) => html`<a class=${`chip${one === state ? " active" : ""}`}
          aria-current=${one === state ? "true" : undefined}
          href=${href("operator/books", { month, state: one === "all" ? "" : one })}>
          ${one === "all" ? t("all") : t(`books.${one}`)}</a>`,
      )}</nav></header>
    <${Paged} pages=${pages} caption=${monthName(month)} empty=${t("nothingFound")} columns=${
      /** @type {Column<Wire.BooksRow>[]} */ ([
        {
          title: t("account"),
          show: (row) => html`<a class="break"
            href=${href(`operator/accounts/${row.account_id}`, { part: "statements" })}>${row.email}</a>`,
        },
        {
          title: t("status"),
          show: (row) => html`<span class=${`tag ${MARKS[row.state]}`}>${t(`books.${row.state}`)}</span>
            ${row.why ? html`<span class="dim block break">${row.why}</span>` : ""}`,
        },
        { title: t("consumed"), number: true, show: (row) => (row.sha256 ? count(row.charged) : "–") },
        { title: t("closing"), number: true, show: (row) => (row.sha256 ? count(row.closing) : "–") },
        {
          title: "",
          show: (row) => html`<span class="actions">
            <a class="button quiet" target="_blank" rel="noreferrer"
              href=${paper(row.account_id, `format=html&language=${language}`)}>${t("print")}</a>
            <a class="button quiet" download href=${paper(row.account_id, "format=csv")}>CSV</a></span>`,
        },
      ])
    } /></section>`;
}

/** Exports that are made each day; none unless the settings say when. */
function Daily() {
  const pages = usePages("/admin/v1/exports", 9);
  if (!pages.rows?.length) return null;
  return html`<section class="card flush"><header class="inner"><h2>${t("dailyExports")}</h2></header>
    <${Paged} pages=${pages} caption=${t("dailyExports")} columns=${
      /** @type {Column<Wire.DailyExport>[]} */ ([
        { title: t("day"), show: (row) => html`<b>${row.day}</b> <span class="dim">${t(row.kind)}</span>` },
        { title: t("rows"), number: true, show: (row) => count(row.rows) },
        {
          title: t("status"),
          show: (row) =>
            row.finished_at
              ? html`<span class="tag delivered">${t("done")}</span>
                <span class="dim"><${Time} at=${row.finished_at} /></span>`
              : html`<span class=${`tag ${row.error ? "exhausted" : "sending"}`}>${row.error || t("running")}</span>`,
        },
        {
          title: t("files"),
          show: (row) =>
            row.files.map(
              (file) => html`<span class="dim block break code" title=${file.sha256}>
            ${file.name}</span>`,
            ),
        },
      ])
    } /></section>`;
}

/** @param {{ who: Runs, route: Route }} given */
export function Books({ who, route }) {
  const pages = usePages("/admin/v1/statements", 12);
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const may = who.operator.role !== "viewer";
  const month = /^\d{4}-\d{2}$/.test(route.query.month || "") ? route.query.month : "";
  const state = STATES.includes(route.query.state) ? route.query.state : "all";
  const close = (/** @type {Wire.CloseRow} */ row) => ({
    title: t("closeTitle", monthName(row.month)),
    text: t("closeText"),
    action: t("closeMonth"),
    fields: [],
    act: async () => {
      await post("/admin/v1/statements", { month: row.month });
      pages.again();
    },
  });
  return html`<header class="head"><div><h1>${t("books")}</h1><p class="dim">${t("booksText")}</p></div></header>
    <section class="card flush">
      <${Paged} pages=${pages} caption=${t("books")} empty=${t("noMonths")} columns=${
        /** @type {Column<Wire.CloseRow>[]} */ ([
          {
            title: t("month"),
            show: (row) => html`<a href=${href("operator/books", { month: row.month })}>
              <b>${monthName(row.month)}</b></a>`,
          },
          { title: t("accounts"), number: true, show: (row) => t("ofAll", count(row.closed), count(row.accounts)) },
          { title: t("consumed"), number: true, show: (row) => count(row.charged) },
          { title: t("status"), show: (row) => html`<${Far} row=${row} />` },
          { title: t("when"), show: (row) => html`<${Time} at=${row.finished_at} />` },
          {
            title: "",
            show: (row) =>
              may &&
              row.closed < row.accounts &&
              (!row.begun_at || row.finished_at) &&
              html`<button type="button" class="button quiet" onClick=${() => setAsking(close(row))}>
                ${t("closeMonth")}</button>`,
          },
        ])
      } /></section>
    ${month && html`<${Accounts} key=${`${month} ${state}`} month=${month} state=${state} />`}
    <${Exports} base="/admin/v1/exports" text=${t("exportsAllText")} />
    <${Daily} />
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}`;
}
