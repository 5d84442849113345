// The operator's lists: jobs of everybody, callbacks, what operators did.
import { html } from "../../lib.js";
import { t } from "../../words.js";
import { count, exactly, when, why, words } from "../../show.js";
import { href } from "../../route.js";
import { Paged, usePages } from "../../parts/table.js";

const Time = ({ at }) => html`<span title=${exactly(at)}>${when(at)}</span>`;

const List = ({ title, path, columns, filters }) => {
  const pages = usePages(path, 25);
  return html`<header class="head"><div><h1>${title}</h1><p class="dim">${pages.rows ? count(pages.total) : " "}</p></div>${filters || ""}</header>
    <section class="card flush"><${Paged} pages=${pages} caption=${title} columns=${columns} /></section>`;
};

export function Jobs({ route }) {
  const status = ["success", "failed"].includes(route.query.status) ? route.query.status : "";
  const chips = html`<div class="chips">${["", "success", "failed"].map((one) => html`<a class=${`chip${one === status ? " active" : ""}`} href=${href("operator/jobs", { status: one })}>${one ? t(one === "success" ? "done" : "failed") : t("all")}</a>`)}</div>`;
  return html`<${List} key=${status} title=${t("jobs")} path=${`/admin/v1/jobs${status ? `?status=${status}` : ""}`} filters=${chips} columns=${[
    { title: t("when"), show: (row) => html`<${Time} at=${row.createdAt} />` },
    { title: t("what"), show: (row) => html`<span class="words">${words(row)}</span><span class="dim block">${row.operation}</span>` },
    { title: t("status"), show: (row) => html`<span class=${row.status === "FAILED" ? "bad" : ""}>${row.status === "FAILED" ? why(row.message) : row.status.toLowerCase().replace("_", " ")}</span>` },
    { title: t("backends"), show: (row) => html`<span class="dim">${row.backend || "–"}</span>` },
    { title: t("Quota"), number: true, show: (row) => count(row.quota) },
  ]} />`;
}

export const Callbacks = () => html`<${List} title=${t("callbacks")} path="/admin/v1/callbacks" columns=${[
  { title: t("jobs"), show: (row) => html`<span class="code">${row.jobId}</span>` },
  { title: t("address"), show: (row) => html`<span class="break">${row.url || row.hookUrl}</span>` },
  { title: t("status"), show: (row) => row.state || row.status },
  { title: t("tries"), number: true, show: (row) => row.tries ?? row.attempts ?? "" },
]} />`;

export const Audit = () => html`<${List} title=${t("audit")} path="/admin/v1/audit" columns=${[
  { title: t("when"), show: (row) => html`<${Time} at=${row.time} />` },
  { title: t("actor"), show: (row) => row.actor },
  { title: t("what"), show: (row) => row.action },
  { title: t("target"), show: (row) => html`<span class="code break">${row.target}</span>` },
  { title: t("detail"), show: (row) => html`<span class="break">${row.detail}</span>` },
]} />`;
