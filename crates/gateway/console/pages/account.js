// Account: quota, what was used, every movement, keys, callbacks.
import { html, useEffect, useState } from "../lib.js";
import { t } from "../words.js";
import { count, exactly, when } from "../show.js";
import { get, post, remove } from "../api.js";
import { href } from "../route.js";
import { Paged, Table, usePages } from "../parts/table.js";
import { Bars } from "../parts/chart.js";
import { Ask } from "../parts/ask.js";
import { Dialog } from "../parts/dialog.js";

function everyDay(byDay) {
  const found = new Map(byDay.map((one) => [one.day, Number(one.quota)]));
  return Array.from({ length: 30 }, (_, back) => {
    const name = new Date(Date.now() - (29 - back) * 86_400_000).toISOString().slice(0, 10);
    return { name, value: found.get(name) || 0 };
  });
}

function Usage() {
  const [usage, setUsage] = useState(null);
  useEffect(() => { get("/account/v1/usage").then(({ data }) => setUsage(data), () => {}); }, []);
  if (!usage) return html`<section class="card tall" aria-busy="true"></section>`;
  return html`<section class="card"><h2>${t("usage")}</h2><p class="dim">${count(usage.jobs)} ${t("jobs").toLowerCase()}, ${count(usage.quota)} ${t("quota")}, 30 days</p>
    <${Bars} values=${everyDay(usage.byDay)} title=${`${t("quota")} ${t("byDay").toLowerCase()}`} />
    <${Table} caption=${t("byFamily")} rows=${usage.byFamily} columns=${[
      { title: t("what"), show: (row) => row.family }, { title: t("jobs"), number: true, show: (row) => count(row.jobs) }, { title: t("Quota"), number: true, show: (row) => count(row.quota) },
    ]} /></section>`;
}

function Secret({ value, close }) {
  const [copied, setCopied] = useState(false);
  return html`<${Dialog} close=${close} label=${t("newKey")}><h2>${t("newKey")}</h2><p>${t("newKeyOnce")}</p><pre class="secret" tabindex="0"><code>${value}</code></pre>
    <div class="row"><span class="space"></span><button class="button quiet" onClick=${() => navigator.clipboard.writeText(value).then(() => setCopied(true))}>${copied ? t("copied") : t("copy")}</button><button class="button" onClick=${close}>${t("done")}</button></div><//>`;
}

function Keys() {
  const [keys, setKeys] = useState(null);
  const [asking, setAsking] = useState(false);
  const [secret, setSecret] = useState("");
  const [problem, setProblem] = useState("");
  const read = () => get("/account/v1/keys").then(({ data }) => setKeys(data), (error) => setProblem(error.message));
  useEffect(() => { read(); }, []);
  const issue = async (given) => {
    const { data } = await post("/account/v1/keys", given);
    setSecret(data.api_key || data.key);
    read();
  };
  return html`<section class="card"><header><h2>${t("keys")}</h2><button class="button quiet" onClick=${() => setAsking(true)}>${t("newKey")}</button></header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${keys && html`<${Table} caption=${t("keys")} rows=${keys} columns=${[
      { title: t("name"), show: (row) => html`${row.name || "–"} <span class="dim code">${row.prefix}…</span>` },
      { title: t("scopes"), show: (row) => [row.scopes].flat().join(", ") },
      { title: t("lastUsed"), show: (row) => html`<span title=${exactly(row.lastUsedAt)}>${when(row.lastUsedAt) || t("never")}</span>` },
      { title: t("expires"), show: (row) => when(row.expiresAt) || t("never") },
      { title: "", show: (row) => html`<button class="button quiet danger" onClick=${() => remove(`/account/v1/keys/${row.id}`).then(read, (error) => setProblem(error.message))}>${t("revoke")}</button>` },
    ]} />`}
    ${asking && html`<${Ask} title=${t("newKey")} action=${t("newKey")} close=${() => setAsking(false)} act=${issue} fields=${[{ name: "name", label: t("name") }]} />`}
    ${secret && html`<${Secret} value=${secret} close=${() => setSecret("")} />`}</section>`;
}

function Ledger() {
  const pages = usePages("/account/v1/ledger", 15);
  const csv = () => {
    const rows = [["time", "kind", "amount", "balance", "held", "job", "reason"], ...pages.rows.map((row) => [row.time, row.kind, row.amount, row.balance, row.freezeBalance, row.jobId || "", row.reason])];
    const text = rows.map((row) => row.map((cell) => `"${String(cell).replace(/^([=+@-])/, "'$1").replace(/"/g, '""')}"`).join(",")).join("\r\n");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = "ledger.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  return html`<section class="card"><header><h2>${t("ledger")}</h2><button class="button quiet" disabled=${!pages.rows?.length} onClick=${csv}>CSV</button></header>
    <${Paged} pages=${pages} caption=${t("ledger")} columns=${[
      { title: t("when"), show: (row) => html`<span title=${exactly(row.time)}>${when(row.time)}</span>` },
      { title: t("what"), show: (row) => html`${row.kind} <span class="dim">${row.reason || ""}</span>${row.jobId ? html` <a href=${href(`job/${row.jobId}`)}>${t("Job")}</a>` : ""}` },
      { title: t("amount"), number: true, show: (row) => count(row.amount) },
      { title: t("balance"), number: true, show: (row) => count(row.balance) },
      { title: t("Held"), number: true, show: (row) => count(row.freezeBalance) },
    ]} /></section>`;
}

function Callbacks() {
  const pages = usePages("/account/v1/callbacks", 10);
  return html`<section class="card"><h2>${t("callbacks")}</h2>
    <${Paged} pages=${pages} caption=${t("callbacks")} columns=${[
      { title: t("jobs"), show: (row) => html`<a class="code" href=${href(`job/${row.jobId}`)}>${String(row.jobId).slice(0, 13)}…</a>` },
      { title: t("address"), show: (row) => html`<span class="break">${row.url || row.hookUrl}</span>` },
      { title: t("status"), show: (row) => row.state || row.status },
      { title: "", show: (row) => html`<button class="button quiet" onClick=${() => post(`/account/v1/callbacks/${row.id}/redeliver`).then(pages.again)}>${t("redeliver")}</button>` },
    ]} /></section>`;
}

export function Account({ who }) {
  return html`<header class="head"><div><h1>${count(who.account.balance)} ${t("quota")} ${t("free")}</h1><p class="dim">${who.account.email} · ${count(who.account.freeze_balance)} ${t("held")}</p></div></header>
    <div class="columns"><${Usage} /><${Keys} /></div>
    <${Ledger} /><${Callbacks} />`;
}
