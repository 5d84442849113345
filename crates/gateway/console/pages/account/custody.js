// The caller's own accounts at vendors: add one, ask the vendor, pause, remove.
import { html, useEffect, useState } from "../../lib.js";
import { t } from "../../words.js";
import { get, patch, post, remove } from "../../api.js";
import { Ask } from "../../parts/ask.js";
import { Table } from "../../parts/table.js";
import { Condition } from "../../parts/condition.js";

export function Custody() {
  const [rows, setRows] = useState(null);
  const [asking, setAsking] = useState(null);
  const [told, setTold] = useState(null);
  const read = () => get("/custody/v1/accounts").then(({ data }) => setRows(data), (error) => setTold({ bad: true, text: error.message }));
  useEffect(() => { read(); }, []);
  const create = {
    title: t("addOwn"), text: t("addOwnText"), action: t("addOwn"),
    fields: [{ name: "vendor", label: t("vendor"), required: true, placeholder: "relay" }, { name: "base_url", label: t("address"), type: "url", required: true, placeholder: "https://" }, { name: "name", label: t("name") }, { name: "credential", label: t("credential"), type: "password", hint: t("credentialHint") }, { name: "concurrency", label: t("atOnce"), type: "number", value: 2 }],
    act: async (given) => { await post("/custody/v1/accounts", given); read(); },
  };
  const act = (work, good) => work.then(() => { setTold(good ? { text: good } : null); read(); }, (error) => setTold({ bad: true, text: error.message }));
  const base = (row) => `/custody/v1/accounts/${encodeURIComponent(row.id)}`;
  return html`<section class="card flush"><header class="inner"><div><h2>${t("custody")}</h2><p class="dim">${t("custodyText")}</p></div><button class="button" onClick=${() => setAsking(create)}>${t("addOwn")}</button></header>
    ${told && html`<p class=${told.bad ? "problem" : "ok inner"} role="status">${told.text}</p>`}
    ${rows && html`<${Table} caption=${t("custody")} rows=${rows} empty=${t("noOwn")} columns=${[
      { title: t("name"), show: (row) => html`<${Condition} row=${{ condition: row.health?.condition || "well", usable: row.state === "active" }} /><b>${row.name}</b> <span class="dim">${row.vendor}</span><span class="dim block break">${row.base_url}</span>` },
      { title: t("busy"), show: (row) => t("ofAll", row.busy ?? 0, row.concurrency) },
      { title: t("condition"), show: (row) => t(`condition.${row.state === "active" ? row.health?.condition || "well" : row.state}`) },
      { title: "", show: (row) => html`<span class="actions">
        <button class="button quiet" onClick=${() => act(post(`${base(row)}/probe`), t("probeGood", row.name))}>${t("probe")}</button>
        <button class="button quiet" onClick=${() => act(patch(base(row), { state: row.state === "active" ? "paused" : "active" }))}>${row.state === "active" ? t("pause") : t("resume")}</button>
        <button class="button quiet danger" onClick=${() => act(remove(base(row)))}>${t("remove")}</button></span>` },
    ]} />`}
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}</section>`;
}
