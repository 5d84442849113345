// Payments of all accounts: confirmed, refunded, and what providers report that does not fit.
import { html, useState } from "../../lib.js";
import { t } from "../../words.js";
import { count } from "../../show.js";
import { get, post } from "../../api.js";
import { go, href } from "../../route.js";
import { Ask } from "../../parts/ask.js";
import { Dialog } from "../../parts/dialog.js";
import { money, partOf } from "../../parts/money.js";
import { useNames } from "../../parts/named.js";
import { PayState } from "../../parts/pay_state.js";
import { RowDeeds } from "../../parts/row_menu.js";
import { Paged, Table, Time, usePages } from "../../parts/table.js";

const STATES = ["pending", "paid", "disputed", "refunded", "mismatch", "expired", "failed"];
/** @param {Wire.AccountPayment} row */
const pathOf = (row) => `/admin/v1/payments/${encodeURIComponent(row.id)}`;
/** What can still go back of its money. @param {Wire.AccountPayment} row */
const left = (row) => (row.paid_at ? Math.max(0, row.money - row.refunded - row.disputed) : 0);
/** Whether an operator has yet to confirm it. @param {Wire.AccountPayment} row */
const isOpen = (row) => row.provider === "manual" && !row.paid_at;
/** How many minor units a whole one has. @param {Wire.AccountPayment} row */
const units = (row) => 10 ** (row.price.split(".")[1]?.length || 0);

/** What happened to a payment. @param {{ report: Wire.PaymentReport, close: () => void }} given */
const Report = ({ report, close }) => html`<${Dialog} close=${close} label=${report.product}>
  <h2>${report.product} · ${money(report)}</h2>
  <dl class="facts">
    <dt>${t("payId")}</dt><dd class="break code">${report.id}</dd>
    <dt>${t("payReferences")}</dt><dd class="break code">${report.references.join(", ") || "–"}</dd>
    <dt>${t("payBack")}</dt>
    <dd>${partOf(report.refunded + report.disputed, report)} · ${count(report.taken_back)}</dd></dl>
  <${Table} caption=${t("payEvents")} rows=${report.events} columns=${
    /** @type {Column<Wire.PaymentEvent>[]} */ ([
      { title: t("when"), show: (row) => html`<${Time} at=${row.received_at} />` },
      { title: t("what"), show: (row) => t(`payEvent.${row.kind}`) },
      { title: t("status"), show: (row) => row.why || t(`payOutcome.${row.outcome}`) },
    ])
  } />
  ${
    report.refunds.length > 0 &&
    html`<h3>${t("refunds")}</h3><${Table} caption=${t("refunds")} rows=${report.refunds} columns=${
      /** @type {Column<Wire.Refund>[]} */ ([
        { title: t("when"), show: (row) => html`<${Time} at=${row.created_at} />` },
        { title: t("amount"), number: true, show: (row) => partOf(row.money, report) },
        { title: t("status"), show: (row) => row.why || t(`refund.${row.state}`) },
      ])
    } />`
  }
  <div class="row"><span class="space"></span>
    <button type="button" class="button" onClick=${close}>${t("close")}</button></div>
<//>`;

/** Events that fit no payment. */
function Mismatches() {
  const pages = usePages("/admin/v1/payment-mismatches?", 20);
  return html`<section class="card flush"><header class="inner"><div><h2>${t("mismatches")}</h2>
      <p class="dim">${t("mismatchesText")}</p></div></header>
    <${Paged} pages=${pages} caption=${t("mismatches")} empty=${t("noMismatches")} columns=${
      /** @type {Column<Wire.PaymentEvent>[]} */ ([
        { title: t("when"), show: (row) => html`<${Time} at=${row.received_at} />` },
        { title: t("what"), show: (row) => `${t(`provider.${row.provider}`)} · ${t(`payEvent.${row.kind}`)}` },
        { title: t("payWhy"), show: (row) => row.why || t("payUnmatched") },
        { title: t("payment"), show: (row) => html`<span class="code break">${row.payment_id || "–"}</span>` },
        { title: t("payId"), show: (row) => html`<span class="code break">${row.event_id}</span>` },
      ])
    } /></section>`;
}

/** @param {{ who: Runs, route: Route }} given */
export function Payments({ who, route }) {
  const state = STATES.includes(route.query.state) ? route.query.state : "";
  const pages = usePages(`/admin/v1/payments?${state ? `state=${state}` : ""}`, 25);
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [report, setReport] = useState(/** @type {Wire.PaymentReport | null} */ (null));
  const [problem, setProblem] = useState("");
  const name = useNames((pages.rows || []).map((row) => row.account_id));
  const may = who.operator.role !== "viewer";
  const look = (/** @type {Wire.AccountPayment} */ row) =>
    get(pathOf(row)).then(
      ({ data }) => setReport(data),
      (error) => setProblem(error.message),
    );
  /** @param {Wire.AccountPayment} row @returns {Asking} */
  const confirm = (row) => ({
    title: t("payConfirmTitle", money(row)),
    text: t("payConfirmText"),
    action: t("payConfirm"),
    fields: [],
    act: async () => {
      await post(`${pathOf(row)}/confirm`);
      pages.again();
    },
  });
  /** @param {Wire.AccountPayment} row @returns {Asking} */
  const refund = (row) => ({
    title: t("refundTitle", row.product),
    text: t(`refundBy.${row.provider}`),
    action: t("refundDo"),
    danger: true,
    fields: [
      {
        name: "money",
        label: t("refundMoney", row.currency),
        type: "number",
        required: true,
        value: (left(row) / units(row)).toFixed(Math.log10(units(row))),
      },
    ],
    act: async (given) => {
      await post(`${pathOf(row)}/refund`, { money: Math.round(given.money * units(row)) });
      pages.again();
    },
  });
  const choose = (/** @type {On} */ event) => go("operator/payments", { state: event.target.value });
  return html`<header class="head"><div><h1>${t("payments")}</h1><p class="dim">${t("paymentsText")}</p></div>
      <select aria-label=${t("status")} onChange=${choose}>
        <option value="">${t("payAll")}</option>
        ${STATES.map((one) => html`<option value=${one} selected=${one === state}>${t(`pay.${one}`)}</option>`)}
      </select></header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <section class="card flush">
      <${Paged} pages=${pages} caption=${t("payments")} empty=${t("noPayments")} columns=${
        /** @type {Column<Wire.AccountPayment>[]} */ ([
          { title: t("when"), show: (row) => html`<${Time} at=${row.created_at} />` },
          {
            title: t("account"),
            show: ({ account_id: id }) =>
              html`<a class="break" href=${href(`operator/accounts/${id}`)}>${name(id)}</a>`,
          },
          {
            title: t("product"),
            show: (row) => html`${row.product} <span class="dim">${t(`provider.${row.provider}`)}</span>`,
          },
          { title: t("amount"), number: true, show: (row) => money(row) },
          { title: t("status"), show: (row) => html`<${PayState} state=${row.state} />` },
          {
            title: "",
            show: (row) =>
              html`<${RowDeeds} name=${row.product} items=${[
                may && isOpen(row) && { text: t("payConfirm"), act: () => setAsking(confirm(row)) },
                may && left(row) > 0 && { text: t("refundDo"), danger: true, act: () => setAsking(refund(row)) },
              ]}><button type="button" class="button quiet" onClick=${() => look(row)}>${t("details")}</button><//>`,
          },
        ])
      } /></section>
    <${Mismatches} />
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}
    ${report && html`<${Report} report=${report} close=${() => setReport(null)} />`}`;
}
