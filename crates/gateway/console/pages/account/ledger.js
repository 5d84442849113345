// Every movement of quota, and the whole of it as a table for a spreadsheet.
import { html, useEffect, useState } from "../../lib.js";
import { given, local, t } from "../../words.js";
import { count, deed } from "../../show.js";
import { get } from "../../api.js";
import { go, href } from "../../route.js";
import { catalogue } from "../../catalogue.js";
import { DateRange, rangeOf } from "../../parts/date_range.js";
import { Paged, Time, usePages } from "../../parts/table.js";

const COLUMNS = ["time", "kind", "amount", "balance", "freezeBalance", "jobId", "reason"];
const PAGE = 100;

/** A cell that no spreadsheet takes for a formula; numbers stay numbers. @param {Json} value */
function cell(value) {
  const text = String(value ?? "");
  if (/^-?\d+(\.\d+)?$/.test(text)) return text;
  return `"${text.replace(/^([=+@\t\r-])/, "'$1").replace(/"/g, '""')}"`;
}

/** @param {string} name @param {string} text */
function save(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Which way the balance goes; what was held is paid without a further step. */
/** @type {Record<string, string>} */
const SIGNS = { grant: "+", hold: "−", release: "+" };
/** @param {Wire.LedgerRow} row */
const signed = (row) =>
  row.kind === "adjust"
    ? `${row.amount < 0 ? "−" : "+"} ${count(Math.abs(row.amount))}`
    : `${SIGNS[row.kind] ? `${SIGNS[row.kind]} ` : ""}${count(row.amount)}`;

/**
 * What a movement was for: the work in words that lead to it, or the reason that was given.
 * @param {{ row: Wire.LedgerRow, operations: Operation[] }} given
 */
function What({ row, operations }) {
  const made = operations.find((one) => one.name === row.reason);
  const text = made
    ? `${local(made.family)} · ${deed(made.name)}`
    : given(row.reason || "") || (row.jobId ? t("Job") : "");
  return html`<span class=${`kind ${row.kind}`}>${t(`ledger.${row.kind}`)}
    </span> ${
      row.jobId
        ? html`<a class="dim break" href=${href(`job/${row.jobId}`)}>${text}</a>`
        : html`<span class="dim break">${text}</span>`
    }`;
}

/**
 * `base` is where it is asked for; without a span of its own the page has one in its address.
 * @param {{ base?: string, range?: Span | null, route?: Route | null }} given
 */
export function Ledger({ base = "/account/v1/ledger?", range = null, route = null }) {
  const span = range || rangeOf(route?.query || {}, 0);
  const path = `${base}${span.asked}`;
  const pages = usePages(path, 25);
  const [progress, setProgress] = useState(/** @type {number | null} */ (null));
  const [operations, setOperations] = useState(/** @type {Operation[]} */ ([]));
  useEffect(() => {
    catalogue().then(
      (all) => setOperations(all.operations),
      () => {},
    );
  }, []);
  const csv = async () => {
    const lines = [COLUMNS.join(",")];
    for (let page = 1, total = 1; (page - 1) * PAGE < total; page += 1) {
      const answer = await get(`${path}&page=${page}&limit=${PAGE}`);
      total = answer.total;
      for (const row of answer.data) lines.push(COLUMNS.map((name) => cell(row[name])).join(","));
      setProgress(Math.min(1, (page * PAGE) / total));
    }
    setProgress(null);
    save("ledger.csv", lines.join("\r\n"));
  };
  return html`${
    !range &&
    html`<${DateRange} range=${span} usual=${0}
      change=${(more) => go("account", { ...route?.query, ...more }, { replace: true })} />`
  }
    <section class="card flush"><header class="inner"><h2>${t("ledger")}</h2>
      ${progress !== null && html`<progress class="thin" max="1" value=${progress} aria-label="CSV"></progress>`}
      <button class="button quiet" disabled=${!pages.rows?.length || progress !== null} onClick=${csv}>
        ${t("saveCsv")}</button></header>
    <${Paged} pages=${pages} caption=${t("ledger")} columns=${
      /** @type {Column<Wire.LedgerRow>[]} */ ([
        { title: t("when"), show: (row) => html`<${Time} at=${row.time} />` },
        { title: t("what"), show: (row) => html`<${What} row=${row} operations=${operations} />` },
        {
          title: t("amount"),
          number: true,
          show: (row) => html`<span class=${row.kind === "capture" ? "dim" : ""}>${signed(row)}</span>`,
        },
        { title: t("balance"), number: true, show: (row) => count(row.balance) },
        { title: t("Held"), number: true, show: (row) => count(row.freezeBalance) },
      ])
    } /></section>`;
}
