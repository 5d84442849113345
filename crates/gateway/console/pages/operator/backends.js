// Back ends in the order of fall-back, each with its worker accounts, what they do and what went wrong.
import { html, useEffect, useState } from "../../lib.js";
import { t } from "../../words.js";
import { took } from "../../show.js";
import { get, patch, post, remove } from "../../api.js";
import { Table } from "../../parts/table.js";
import { Ask } from "../../parts/ask.js";
import { Condition } from "./condition.js";

const conditionOf = (row) => ({ condition: row.health?.condition || (row.enabled === false ? "off" : "well"), usable: row.enabled !== false && row.state !== "paused" });

function Errors({ health }) {
  const errors = health?.last_errors || [];
  if (!errors.length) return null;
  return html`<details><summary>${errors.length} lately</summary><ul class="errors">${errors.map((one) => html`<li><b>${one.outcome}</b> <span class="break">${one.detail || "–"}</span> <time class="dim">${new Date(one.at_ms).toLocaleTimeString()}</time></li>`)}</ul></details>`;
}

function Backend({ row, again, ask, tell }) {
  const act = (work) => work.then(again, (error) => tell(error.message));
  const base = `/admin/v1/backends/${row.id}`;
  const fixed = row.vendor === "embedded";
  return html`<section class="card"><header><h2><${Condition} row=${conditionOf(row)} />${row.name} <span class="dim">${row.vendor === row.name ? "" : row.vendor}</span></h2>
      <span class="actions">${!fixed && html`
        <button class="button quiet" onClick=${() => act(post(`${base}/probe`))}>${t("probe")}</button>
        <button class="button quiet" onClick=${() => act(patch(base, { enabled: !row.enabled }))}>${row.enabled ? t("pause") : t("resume")}</button>
        <button class="button quiet" onClick=${() => ask({ title: t("addWorker"), action: t("addWorker"), fields: [{ name: "name", label: t("name"), required: true }, { name: "credential", label: t("credential"), type: "password" }, { name: "concurrency", label: "At once", type: "number", value: 3 }], act: async (given) => { await post(`${base}/accounts`, given); again(); } })}>${t("addWorker")}</button>
        <button class="button quiet danger" onClick=${() => act(remove(base))}>${t("remove")}</button>`}</span></header>
    <p class="dim break">${row.base_url || "inside this process"} · ${row.operations.length ? row.operations.join(", ") : "everything it can"} · rank ${row.rank}</p>
    <${Errors} health=${row.health} />
    ${row.accounts.length > 0 && html`<${Table} caption=${t("accounts")} rows=${row.accounts} columns=${[
      { title: t("name"), show: (one) => html`<${Condition} row=${conditionOf(one)} />${one.name}` },
      { title: t("busy"), show: (one) => `${one.busy ?? 0} of ${one.concurrency ?? one.slots}` },
      { title: t("condition"), show: (one) => html`${one.state === "active" ? one.health?.condition || "well" : one.state}${one.health?.until_ms ? `, ${took(one.health.until_ms - Date.now())}` : ""}<${Errors} health=${one.health} />` },
      { title: "", show: (one) => html`<span class="actions">
        <button class="button quiet" onClick=${() => act(post(`${base}/accounts/${one.id}/probe`))}>${t("probe")}</button>
        ${one.state === "active" && html`<button class="button quiet" onClick=${() => act(patch(`${base}/accounts/${one.id}`, { state: "draining" }))}>${t("drain")}</button>`}
        <button class="button quiet" onClick=${() => act(patch(`${base}/accounts/${one.id}`, { state: one.state === "active" ? "paused" : "active" }))}>${one.state === "active" ? t("pause") : t("resume")}</button>
        <button class="button quiet danger" onClick=${() => act(remove(`${base}/accounts/${one.id}`))}>${t("remove")}</button></span>` },
    ]} />`}</section>`;
}

export function Backends() {
  const [rows, setRows] = useState(null);
  const [asking, setAsking] = useState(null);
  const [problem, setProblem] = useState("");
  const read = () => get("/admin/v1/backends").then(({ data }) => { setRows(data); setProblem(""); }, (error) => setProblem(error.message));
  useEffect(() => { read(); const timer = setInterval(read, 5000); return () => clearInterval(timer); }, []);
  const create = { title: t("newBackend"), action: t("newBackend"), fields: [{ name: "vendor", label: t("vendor"), required: true, placeholder: "openai, comfyui, relay, …" }, { name: "name", label: t("name"), required: true }, { name: "base_url", label: t("address"), type: "url", required: true }], act: async (given) => { await post("/admin/v1/backends", given); read(); } };
  return html`<header class="head"><div><h1>${t("backends")}</h1><p class="dim">In the order in which they are asked.</p></div><button class="button" onClick=${() => setAsking(create)}>${t("newBackend")}</button></header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${(rows || []).map((row) => html`<${Backend} key=${row.id} row=${row} again=${read} ask=${setAsking} tell=${setProblem} />`)}
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}`;
}
