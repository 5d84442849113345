// Back ends in the order of fall-back, each with its worker accounts, what they do and what went wrong.
import { html, useEffect, useState } from "../../lib.js";
import { many, t } from "../../words.js";
import { clockAt, said, took } from "../../show.js";
import { get, patch, post, remove } from "../../api.js";
import { Ask } from "../../parts/ask.js";
import { Condition } from "../../parts/condition.js";
import { Table } from "../../parts/table.js";
import { NewBackend, Settings } from "./backend_form.js";

const conditionOf = (row) => ({ condition: row.enabled === false ? "off" : row.state && row.state !== "active" ? row.state : row.health?.condition || "well", usable: row.enabled !== false && row.state !== "paused" });

function Errors({ health }) {
  const errors = health?.last_errors || [];
  if (!errors.length) return null;
  return html`<details><summary>${many(errors.length, "errorOne", "errorMany")}</summary><ul class="errors">${errors.map((one) => html`<li><b>${t(`fault.${one.outcome}`)}</b> <span class="break">${said(one.detail) || "–"}</span> <time class="dim">${clockAt(one.at_ms)}</time></li>`)}</ul></details>`;
}

const worker = (name, value, more) => ({ name, label: t(`worker.${name}`), ...more, value });

function Backend({ row, vendors, again, ask, tell, may }) {
  const [editing, setEditing] = useState(false);
  const act = (work, good = "") => work.then(() => { tell(good ? { text: good } : null); again(); }, (error) => { tell({ bad: true, text: `${row.name}: ${said(error.message)}` }); again(); });
  const base = `/admin/v1/backends/${row.id}`;
  const fixed = row.vendor === "embedded";
  const addWorker = { title: t("addWorkerTo", row.name), action: t("addWorker"), fields: [worker("name", "", { required: true }), worker("credential", "", { type: "password", hint: t("credentialHint") }), worker("concurrency", 3, { type: "number" }), worker("per_minute", "", { type: "number", placeholder: t("noLimit") }), worker("hours", "", { placeholder: "08:00-20:00" })],
    act: async (given) => { await post(`${base}/accounts`, given); again(); } };
  const changeWorker = (one) => ({ title: one.name, action: t("save"), fields: [worker("concurrency", one.concurrency, { type: "number" }), worker("per_minute", one.per_minute, { type: "number" }), worker("weight", one.weight, { type: "number" }), worker("hours", one.hours, { placeholder: "08:00-20:00" }), worker("credential", "", { type: "password", hint: t("credentialKeep") })],
    act: async (given) => { await patch(`${base}/accounts/${one.id}`, given); again(); } });
  const removal = { title: t("removeTitle", row.name), text: t("removeText"), action: t("remove"), danger: true, fields: [], act: async () => { await remove(base); again(); } };
  return html`<section class="card backend"><header><h2><${Condition} row=${conditionOf(row)} />${row.name} <span class="dim">${row.vendor === row.name ? "" : row.vendor}</span></h2>
      <span class="actions">${!fixed && may && html`
        <button class="button quiet" onClick=${() => act(post(`${base}/probe`), t("probeGood", row.name))}>${t("probe")}</button>
        <button class="button quiet" onClick=${() => act(patch(base, { enabled: !row.enabled }))}>${row.enabled ? t("pause") : t("resume")}</button>
        <button class="button quiet" onClick=${() => setEditing(true)}>${t("settings")}</button>
        <button class="button quiet" onClick=${() => ask(addWorker)}>${t("addWorker")}</button>
        <button class="button quiet danger" onClick=${() => ask(removal)}>${t("remove")}</button>`}</span></header>
    <p class="dim break">${row.base_url || t("inside")} · ${row.operations.length ? row.operations.join(", ") : t("everything")} · ${t("rank", row.rank)}${fixed ? ` · ${t("ofAll", row.busy, row.slots)}` : ""}</p>
    <${Errors} health=${row.health} />
    ${!fixed && !row.accounts.length && html`<p class="hint">${t("noWorkers")}</p>`}
    ${row.accounts.length > 0 && html`<${Table} caption=${t("workers")} rows=${row.accounts} columns=${[
      { title: t("name"), show: (one) => html`<${Condition} row=${conditionOf(one)} />${one.name}` },
      { title: t("busy"), show: (one) => t("ofAll", one.busy ?? 0, one.concurrency ?? one.slots) },
      { title: t("condition"), show: (one) => html`${t(`condition.${conditionOf(one).condition}`)}${one.health?.until_ms ? `, ${took(one.health.until_ms - Date.now())}` : ""}<${Errors} health=${one.health} />` },
      { title: "", show: (one) => may && html`<span class="actions">
        <button class="button quiet" onClick=${() => act(post(`${base}/accounts/${one.id}/probe`), t("probeGood", one.name))}>${t("probe")}</button>
        ${one.state === "active" && html`<button class="button quiet" onClick=${() => act(patch(`${base}/accounts/${one.id}`, { state: "draining" }))}>${t("drain")}</button>`}
        <button class="button quiet" onClick=${() => act(patch(`${base}/accounts/${one.id}`, { state: one.state === "active" ? "paused" : "active" }))}>${one.state === "active" ? t("pause") : t("resume")}</button>
        <button class="button quiet" onClick=${() => ask(changeWorker(one))}>${t("change")}</button>
        <button class="button quiet danger" onClick=${() => act(remove(`${base}/accounts/${one.id}`))}>${t("remove")}</button></span>` },
    ]} />`}
    ${editing && html`<${Settings} row=${row} vendor=${vendors.find((one) => one.name === row.vendor)} close=${() => setEditing(false)} saved=${again} />`}</section>`;
}

export function Backends({ who }) {
  const [rows, setRows] = useState(null);
  const [vendors, setVendors] = useState([]);
  const [asking, setAsking] = useState(null);
  const [adding, setAdding] = useState(false);
  const [told, setTold] = useState(null);
  const may = who.operator.role !== "viewer";
  const read = () => get("/admin/v1/backends").then(({ data }) => setRows(data), (error) => setTold({ bad: true, text: error.message }));
  useEffect(() => { read(); get("/admin/v1/vendors").then(({ data }) => setVendors(data), () => {}); const timer = setInterval(read, 5000); return () => clearInterval(timer); }, []);
  return html`<header class="head"><div><h1>${t("backends")}</h1><p class="dim">${t("inOrder")}</p></div>${may && html`<button class="button" onClick=${() => setAdding(true)}>${t("newBackend")}</button>`}</header>
    ${told && html`<p class=${`told ${told.bad ? "bad" : "ok"}`} role="status">${told.text}</p>`}
    ${(rows || []).map((row) => html`<${Backend} key=${row.id} row=${row} vendors=${vendors} again=${read} ask=${setAsking} tell=${setTold} may=${may} />`)}
    ${rows?.length === 1 && rows[0].vendor === "embedded" && html`<p class="empty">${t("onlyInside")}</p>`}
    ${adding && html`<${NewBackend} vendors=${vendors} close=${() => setAdding(false)} made=${(row) => { setAdding(false); read(); setTold({ text: t("backendMade", row.name) }); }} />`}
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}`;
}
