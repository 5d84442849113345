// Every movement of quota, and the whole of it as a table for a spreadsheet.
import { html, useState } from "../../lib.js";
import { t } from "../../words.js";
import { count } from "../../show.js";
import { get } from "../../api.js";
import { href } from "../../route.js";
import { Paged, Time, usePages } from "../../parts/table.js";

const COLUMNS = ["time", "kind", "amount", "balance", "freezeBalance", "jobId", "reason"];
const PAGE = 100;

/** A cell that no spreadsheet takes for a formula; numbers stay numbers. */
function cell(value) {
  const text = String(value ?? "");
  if (/^-?\d+(\.\d+)?$/.test(text)) return text;
  return `"${text.replace(/^([=+@\t\r-])/, "'$1").replace(/"/g, '""')}"`;
}

function save(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export function Ledger() {
  const pages = usePages("/account/v1/ledger", 25);
  const [progress, setProgress] = useState(null);
  const csv = async () => {
    const lines = [COLUMNS.join(",")];
    for (let page = 1, total = 1; (page - 1) * PAGE < total; page += 1) {
      const answer = await get(`/account/v1/ledger?page=${page}&limit=${PAGE}`);
      total = answer.total;
      for (const row of answer.data) lines.push(COLUMNS.map((name) => cell(row[name])).join(","));
      setProgress(Math.min(1, (page * PAGE) / total));
    }
    setProgress(null);
    save("ledger.csv", lines.join("\r\n"));
  };
  return html`<section class="card flush"><header class="inner"><h2>${t("ledger")}</h2>
      ${progress !== null && html`<progress class="thin" max="1" value=${progress} aria-label="CSV"></progress>`}
      <button class="button quiet" disabled=${!pages.rows?.length || progress !== null} onClick=${csv}>${t("saveCsv")}</button></header>
    <${Paged} pages=${pages} caption=${t("ledger")} columns=${[
      { title: t("when"), show: (row) => html`<${Time} at=${row.time} />` },
      { title: t("what"), show: (row) => html`<span class=${`kind ${row.kind}`}>${t(`ledger.${row.kind}`)}</span> <span class="dim break">${row.reason || ""}</span>${row.jobId ? html` <a href=${href(`job/${row.jobId}`)}>${t("Job")}</a>` : ""}` },
      { title: t("amount"), number: true, show: (row) => count(row.amount) },
      { title: t("balance"), number: true, show: (row) => count(row.balance) },
      { title: t("Held"), number: true, show: (row) => count(row.freezeBalance) },
    ]} /></section>`;
}
