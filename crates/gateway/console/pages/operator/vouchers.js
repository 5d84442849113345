// Vouchers: batches of codes that are worth quota; making one gives its codes as a file, this once.
import { html, useState } from "../../lib.js";
import { t } from "../../words.js";
import { count } from "../../show.js";
import { post, remove } from "../../api.js";
import { Ask } from "../../parts/ask.js";
import { Paged, Time, usePages } from "../../parts/table.js";

/** @param {string} id @param {string} text */
const save = (id, text) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = `vouchers-${id}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

/** @param {Wire.VoucherBatchView} row */
const stateOf = (row) => {
  const used = t("voucherUsed", count(row.redeemed), count(row.count));
  if (row.revoked_at) return html`<span class="tag exhausted">${t("revoked")}</span> <span class="dim">${used}</span>`;
  return html`<span class=${`tag ${row.redeemed === row.count ? "delivered" : "due"}`}>${used}</span>`;
};

/** @param {{ who: Runs }} given */
export function Vouchers({ who }) {
  const pages = usePages("/admin/v1/vouchers?", 25);
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const may = who.operator.role !== "viewer";
  /** @type {Asking} */
  const create = {
    title: t("newVouchers"),
    text: t("newVouchersText"),
    action: t("newVouchers"),
    fields: [
      { name: "count", label: t("voucherCount"), type: "number", required: true, value: 10 },
      { name: "amount", label: t("voucherWorth"), type: "number", required: true },
      { name: "note", label: t("note") },
      { name: "expires", label: t("voucherExpires"), type: "date" },
      { name: "credit_days", label: t("voucherDays"), type: "number", hint: t("voucherDaysHint") },
      { name: "per_account", label: t("voucherPerAccount"), type: "number", placeholder: "1" },
    ],
    act: async (given) => {
      const { data } = await post("/admin/v1/vouchers", given);
      save(data.id, data.csv);
      pages.again();
    },
  };
  const revoke = (/** @type {Wire.VoucherBatchView} */ row) => ({
    title: t("revokeTitle", row.note || row.id),
    text: t("voucherRevokeText"),
    action: t("revoke"),
    danger: true,
    fields: [],
    act: async () => {
      await remove(`/admin/v1/vouchers/${row.id}`);
      pages.again();
    },
  });
  return html`<header class="head"><div><h1>${t("vouchers")}</h1><p class="dim">${t("vouchersText")}</p></div>
    ${may && html`<button class="button" onClick=${() => setAsking(create)}>${t("newVouchers")}</button>`}</header>
    <section class="card flush">
      <${Paged} pages=${pages} caption=${t("vouchers")} empty=${t("noVouchers")} columns=${
        /** @type {Column<Wire.VoucherBatchView>[]} */ ([
          { title: t("note"), show: (row) => html`<b class="break" dir="auto">${row.note || row.id}</b>` },
          { title: t("voucherWorth"), number: true, show: (row) => count(row.amount) },
          { title: t("voucherMade"), show: (row) => html`<${Time} at=${row.created_at} />` },
          { title: t("expires"), show: (row) => html`<${Time} at=${row.expires} />` },
          { title: t("status"), show: stateOf },
          {
            title: "",
            show: (row) =>
              may &&
              !row.revoked_at &&
              html`<button class="button quiet danger" onClick=${() => setAsking(revoke(row))}>${t("revoke")}</button>`,
          },
        ])
      } /></section>
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}`;
}
