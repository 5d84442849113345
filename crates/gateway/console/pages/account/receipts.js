// Receipts: what was charged for each job, signed. A receipt is saved as a file that anyone can check without the
// service.
import { html } from "../../lib.js";
import { t } from "../../words.js";
import { count, deed } from "../../show.js";
import { href } from "../../route.js";
import { Paged, Time, usePages } from "../../parts/table.js";

/** @param {Wire.Receipt} row */
const save = (row) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([`${row.signed}\n`], { type: "application/jose" }));
  link.download = `receipt-${row.job}.jws`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

/** A time by RFC 3339 as the service writes the others. @param {string} time */
const plain = (time) => time.slice(0, 19).replace("T", " ");

export function Receipts() {
  const pages = usePages("/account/v1/receipts?", 20);
  return html`<section class="card flush"><header class="inner"><div><h2>${t("receipts")}</h2>
      <p class="dim">${t("receiptsText")}
        <a href="/.well-known/atelier-receipts">${t("receiptKeys")}</a></p></div></header>
    <${Paged} pages=${pages} caption=${t("receipts")} empty=${t("noReceipts")} columns=${
      /** @type {Column<Wire.Receipt>[]} */ ([
        { title: t("receiptNumber"), number: true, show: (row) => count(row.number) },
        { title: t("when"), show: (row) => html`<${Time} at=${plain(row.time)} />` },
        {
          title: t("what"),
          show: (row) => html`<a class="break" href=${href(`job/${row.job}`)}>${deed(row.operation)}</a>`,
        },
        { title: t("Quota"), number: true, show: (row) => count(row.quota) },
        { title: t("receiptFiles"), number: true, show: (row) => count(row.files.length) },
        {
          title: "",
          show: (row) =>
            html`<button type="button" class="button quiet" onClick=${() => save(row)}>${t("receiptSave")}</button>`,
        },
      ])
    } /></section>`;
}
