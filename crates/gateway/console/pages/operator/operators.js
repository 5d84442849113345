// Operators and viewers: who there is, a new one with its token, revoking one.
import { html, useEffect, useState } from "../../lib.js";
import { language, t } from "../../words.js";
import { get, post, remove } from "../../api.js";
import { Ask } from "../../parts/ask.js";
import { Secret } from "../../parts/secret.js";
import { Table, Time } from "../../parts/table.js";

/** @param {{ who: Runs }} given */
export function Operators({ who }) {
  const [rows, setRows] = useState(/** @type {Wire.Operator[] | null} */ (null));
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [secret, setSecret] = useState("");
  const [problem, setProblem] = useState("");
  const may = who.operator.role !== "viewer";
  const read = () =>
    get("/admin/v1/operators").then(
      ({ data }) => setRows(data),
      (error) => setProblem(error.message),
    );
  useEffect(() => {
    read();
  }, []);
  /** @type {Asking} */
  const create = {
    title: t("newOperator"),
    action: t("newOperator"),
    fields: [
      { name: "name", label: t("name"), required: true, placeholder: "night-shift" },
      {
        name: "role",
        label: t("role"),
        options: ["operator", "viewer"],
        required: true,
        names: (one) => t(`role.${one}`),
      },
      { name: "email", label: t("operatorEmail"), type: "email", hint: t("operatorEmailHint") },
    ],
    act: async (given) => {
      const { data } = await post("/admin/v1/operators", { ...given, language });
      if (data.token) setSecret(data.token);
      read();
    },
  };
  const revoke = (/** @type {Wire.Operator} */ row) => ({
    title: t("revokeTitle", row.name),
    text: t("revokeText"),
    action: t("revoke"),
    danger: true,
    fields: [],
    act: async () => {
      await remove(`/admin/v1/operators/${row.id}`);
      read();
    },
  });
  return html`<header class="head"><div><h1>${t("operators")}</h1><p class="dim">${t("operatorsText")}</p></div>
    ${may && html`<button class="button" onClick=${() => setAsking(create)}>${t("newOperator")}</button>`}</header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <section class="card flush">
      ${
        rows &&
        html`<${Table} caption=${t("operators")} rows=${rows} empty=${t("noOperators")} columns=${
          /** @type {Column<Wire.Operator>[]} */ ([
            {
              title: t("name"),
              show: (row) => html`<b class="break">${row.name}</b>
                ${row.personId ? html` <span class="tag">${t("person")}</span>` : ""}`,
            },
            { title: t("role"), show: (row) => t(`role.${row.role}`) },
            {
              title: t("since"),
              show: (row) =>
                row.createdAt
                  ? html`<${Time} at=${row.createdAt} />`
                  : html`<span class="dim">${t("fromSettings")}</span>`,
            },
            { title: t("lastUsed"), show: (row) => html`<${Time} at=${row.lastUsedAt} />` },
            {
              title: t("status"),
              show: (row) =>
                row.revokedAt
                  ? html`<span class="tag exhausted">${t("revoked")}</span>`
                  : html`<span class="tag delivered">${t("active")}</span>`,
            },
            {
              title: "",
              show: (row) =>
                may &&
                row.createdAt &&
                !row.revokedAt &&
                html`<button class="button quiet danger" onClick=${() => setAsking(revoke(row))}>
                  ${t("revoke")}</button>`,
            },
          ])
        } />`
      }</section>
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}
    ${secret && html`<${Secret} title=${t("newOperator")} value=${secret} close=${() => setSecret("")} />`}`;
}
