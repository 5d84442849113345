// Products: what accounts can buy, and for how much.
import { html, useEffect, useState } from "../../lib.js";
import { t } from "../../words.js";
import { count, quotaOf } from "../../show.js";
import { get, patch, post, remove } from "../../api.js";
import { Ask } from "../../parts/ask.js";
import { money } from "../../parts/money.js";
import { RowDeeds } from "../../parts/row_menu.js";
import { Table } from "../../parts/table.js";

/** @param {Wire.Product} row */
const pathOf = (row) => `/admin/v1/products/${encodeURIComponent(row.name)}`;

/** @param {{ who: Runs }} given */
export function Products({ who }) {
  const [rows, setRows] = useState(/** @type {Wire.Product[] | null} */ (null));
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [problem, setProblem] = useState("");
  const may = who.operator.role !== "viewer";
  const read = () =>
    get("/admin/v1/products").then(
      ({ data }) => setRows(data),
      (error) => setProblem(error.message),
    );
  useEffect(() => {
    read();
  }, []);
  /** @param {string[]} plans @param {Wire.Product} [row] @returns {AskField[]} */
  const terms = (plans, row = undefined) => [
    {
      name: "money",
      label: t("productMoney"),
      type: "number",
      required: true,
      value: row?.money,
      hint: t("productMoneyHint"),
    },
    { name: "currency", label: t("productCurrency"), required: true, value: row?.currency, placeholder: "EUR" },
    {
      name: "quota",
      label: t("Quota"),
      type: "number",
      value: row?.quota ?? undefined,
      clears: null,
      hint: t("productQuotaHint"),
    },
    {
      name: "plan",
      label: t("plan"),
      options: plans,
      value: row?.plan ?? undefined,
      clears: null,
      hint: t("productPlanHint"),
    },
    {
      name: "credit_days",
      label: t("voucherDays"),
      type: "number",
      value: row?.credit_days ?? undefined,
      clears: null,
      hint: t("voucherDaysHint"),
    },
  ];
  /** Asks with the names of the plans. @param {(plans: string[]) => Asking} asking */
  const withPlans = (asking) =>
    get("/admin/v1/plans").then(
      ({ data }) => setAsking(asking(data.map((one) => one.name))),
      (error) => setProblem(error.message),
    );
  /** @param {string[]} plans @returns {Asking} */
  const create = (plans) => ({
    title: t("newProduct"),
    action: t("newProduct"),
    fields: [{ name: "name", label: t("name"), required: true, placeholder: "hundred" }, ...terms(plans)],
    act: async (given) => {
      await post("/admin/v1/products", given);
      read();
    },
  });
  /** @param {Wire.Product} row @returns {(plans: string[]) => Asking} */
  const change = (row) => (plans) => ({
    title: row.name,
    text: t("productChangeText"),
    action: t("change"),
    fields: terms(plans, row),
    act: async (given) => {
      await patch(pathOf(row), { ...given, revision: row.revision });
      read();
    },
  });
  const drop = (/** @type {Wire.Product} */ row) => ({
    title: t("removeTitle", row.name),
    text: t("productRemoveText"),
    action: t("remove"),
    danger: true,
    fields: [],
    act: async () => {
      await remove(`${pathOf(row)}?revision=${row.revision}`);
      read();
    },
  });
  return html`<header class="head"><div><h1>${t("products")}</h1><p class="dim">${t("productsText")}</p></div>
    ${may && html`<button class="button" onClick=${() => withPlans(create)}>${t("newProduct")}</button>`}</header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <section class="card flush">
      ${
        rows &&
        html`<${Table} caption=${t("products")} rows=${rows} empty=${t("noProducts")} columns=${
          /** @type {Column<Wire.Product>[]} */ ([
            { title: t("name"), show: (row) => html`<b class="break">${row.name}</b>` },
            { title: t("amount"), number: true, show: (row) => money(row) },
            {
              title: t("planGives"),
              show: (row) => (row.plan ? t("offerPlan", row.plan) : quotaOf(row.quota ?? null)),
            },
            { title: t("voucherDays"), number: true, show: (row) => (row.credit_days ? count(row.credit_days) : "–") },
            {
              title: "",
              show: (row) =>
                may &&
                html`<${RowDeeds} name=${row.name}
                  items=${[{ text: t("remove"), danger: true, act: () => setAsking(drop(row)) }]}>
                  <button type="button" class="button quiet" onClick=${() => withPlans(change(row))}>
                    ${t("change")}</button><//>`,
            },
          ])
        } />`
      }</section>
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}`;
}
