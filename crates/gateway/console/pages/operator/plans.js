// Plans: quota that comes again and again. Accounts get theirs on their own pages.
import { html, useEffect, useState } from "../../lib.js";
import { t } from "../../words.js";
import { count } from "../../show.js";
import { get, patch, post, remove } from "../../api.js";
import { Ask } from "../../parts/ask.js";
import { everyText } from "../../parts/plan.js";
import { RowDeeds } from "../../parts/row_menu.js";
import { Table } from "../../parts/table.js";

const THEN = ["stop", "pay_as_you_go"];
/**
 * What was chosen as the service reads it: months, years, or a number of days.
 * @param {Values} given
 */
const everyOf = ({ every, days, ...given }) => ({ ...given, every: every === "days" ? { days: days || 30 } : every });
/** @param {Wire.Plan} row */
const pathOf = (row) => `/admin/v1/plans/${encodeURIComponent(row.name)}`;

/** @param {{ who: Runs }} given */
export function Plans({ who }) {
  const [rows, setRows] = useState(/** @type {Wire.Plan[] | null} */ (null));
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [problem, setProblem] = useState("");
  const may = who.operator.role !== "viewer";
  const read = () =>
    get("/admin/v1/plans").then(
      ({ data }) => setRows(data),
      (error) => setProblem(error.message),
    );
  useEffect(() => {
    read();
  }, []);
  /** @param {string[]} groups @param {Wire.Plan} [row] @returns {AskField[]} */
  const terms = (groups, row = undefined) => [
    { name: "quota", label: t("Quota"), type: "number", required: true, value: row?.quota },
    {
      name: "every",
      label: t("planEvery"),
      required: true,
      options: ["month", "year", "days"],
      value: typeof row?.every === "object" ? "days" : row?.every,
      names: (one) => t(`plan.${one}`),
    },
    {
      name: "days",
      label: t("planDayCount"),
      type: "number",
      placeholder: "30",
      value: typeof row?.every === "object" ? row.every.days : undefined,
    },
    {
      name: "rollover_cap",
      label: t("planRollover"),
      type: "number",
      placeholder: "0",
      value: row?.rollover_cap,
      clears: 0,
      hint: t("planRolloverHint"),
    },
    {
      name: "group",
      label: t("field.group"),
      options: groups,
      value: row?.group,
      clears: null,
      hint: t("planGroupHint"),
    },
    {
      name: "then",
      label: t("planThen"),
      required: true,
      options: THEN,
      value: row?.then,
      names: (one) => t(`then.${one}`),
    },
  ];
  /** Asks with the names of the groups that a plan may put accounts in. @param {(groups: string[]) => Asking} asking */
  const withGroups = (asking) =>
    get("/admin/v1/groups").then(
      ({ data }) => setAsking(asking(data.map((one) => one.name))),
      (error) => setProblem(error.message),
    );
  /** @param {string[]} groups @returns {Asking} */
  const create = (groups) => ({
    title: t("newPlan"),
    action: t("newPlan"),
    fields: [{ name: "name", label: t("name"), required: true, placeholder: "studio" }, ...terms(groups)],
    act: async (given) => {
      await post("/admin/v1/plans", everyOf(given));
      read();
    },
  });
  /** @param {Wire.Plan} row @returns {(groups: string[]) => Asking} */
  const change = (row) => (groups) => ({
    title: row.name,
    text: t("planChangeText"),
    action: t("change"),
    fields: terms(groups, row),
    act: async (given) => {
      await patch(pathOf(row), { ...everyOf(given), revision: row.revision });
      read();
    },
  });
  const drop = (/** @type {Wire.Plan} */ row) => ({
    title: t("removeTitle", row.name),
    text: t("planRemoveText"),
    action: t("remove"),
    danger: true,
    fields: [],
    act: async () => {
      await remove(`${pathOf(row)}?revision=${row.revision}`);
      read();
    },
  });
  return html`<header class="head"><div><h1>${t("plans")}</h1><p class="dim">${t("plansText")}</p></div>
    ${may && html`<button class="button" onClick=${() => withGroups(create)}>${t("newPlan")}</button>`}</header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <section class="card flush">
      ${
        rows &&
        html`<${Table} caption=${t("plans")} rows=${rows} empty=${t("noPlans")} columns=${
          /** @type {Column<Wire.Plan>[]} */ ([
            { title: t("name"), show: (row) => html`<b class="break">${row.name}</b>` },
            { title: t("Quota"), number: true, show: (row) => count(row.quota) },
            { title: t("planEvery"), show: (row) => everyText(row.every) },
            {
              title: t("planRollover"),
              number: true,
              show: (row) => (Number(row.rollover_cap) ? count(row.rollover_cap) : "–"),
            },
            { title: t("field.group"), show: (row) => row.group || "–" },
            { title: t("planThen"), show: (row) => t(`then.${row.then}`) },
            {
              title: "",
              show: (row) =>
                may &&
                html`<${RowDeeds} name=${row.name}
                  items=${[{ text: t("remove"), danger: true, act: () => setAsking(drop(row)) }]}>
                  <button type="button" class="button quiet" onClick=${() => withGroups(change(row))}>
                    ${t("change")}</button><//>`,
            },
          ])
        } />`
      }</section>
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}`;
}
