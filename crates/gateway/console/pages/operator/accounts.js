// Accounts: make one, grant quota with a reason, set limits, suspend.
import { html, useState } from "../../lib.js";
import { t } from "../../words.js";
import { count, exactly, when } from "../../show.js";
import { patch, post } from "../../api.js";
import { Paged, usePages } from "../../parts/table.js";
import { Ask } from "../../parts/ask.js";
import { Dialog } from "../../parts/dialog.js";

export function Accounts() {
  const pages = usePages("/admin/v1/accounts", 25);
  const [asking, setAsking] = useState(null);
  const [secret, setSecret] = useState("");
  const done = (work) => async (given) => { await work(given); pages.again(); };
  const asks = {
    create: () => ({ title: t("newAccount"), action: t("newAccount"), fields: [{ name: "email", label: t("email"), type: "email", required: true }, { name: "balance", label: t("quota"), type: "number", value: 0 }],
      act: done(async (given) => { const { data } = await post("/admin/v1/accounts", given); setSecret(data.api_key); }) }),
    credit: (row) => ({ title: `${t("credit")}: ${row.email}`, action: t("credit"), fields: [{ name: "amount", label: t("amount"), type: "number", required: true }, { name: "reason", label: t("reason"), required: true }],
      act: done((given) => post(`/admin/v1/accounts/${row.id}/credit`, { ...given, idempotency_key: crypto.randomUUID() })) }),
    limits: (row) => ({ title: `${t("change")}: ${row.email}`, action: t("save"), fields: [{ name: "max_queue", label: "Jobs in the queue at once", type: "number", value: row.max_queue, required: true }],
      act: done((given) => patch(`/admin/v1/accounts/${row.id}`, given)) }),
  };
  return html`<header class="head"><div><h1>${t("accounts")}</h1><p class="dim">${pages.rows ? count(pages.total) : " "}</p></div><button class="button" onClick=${() => setAsking(asks.create())}>${t("newAccount")}</button></header>
    <section class="card flush"><${Paged} pages=${pages} caption=${t("accounts")} columns=${[
      { title: t("email"), show: (row) => html`${row.email}${row.disabled ? html` <span class="bad">suspended</span>` : ""}` },
      { title: t("balance"), number: true, show: (row) => count(row.balance) },
      { title: t("Held"), number: true, show: (row) => count(row.freeze_balance) },
      { title: "Queue", number: true, show: (row) => count(row.max_queue) },
      { title: t("when"), show: (row) => html`<span title=${exactly(row.created_at)}>${when(row.created_at)}</span>` },
      { title: "", show: (row) => html`<span class="actions"><button class="button quiet" onClick=${() => setAsking(asks.credit(row))}>${t("credit")}</button>
        <button class="button quiet" onClick=${() => setAsking(asks.limits(row))}>${t("change")}</button>
        <button class="button quiet danger" onClick=${() => patch(`/admin/v1/accounts/${row.id}`, { disabled: !row.disabled }).then(pages.again)}>${row.disabled ? t("enable") : t("disable")}</button></span>` },
    ]} /></section>
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}
    ${secret && html`<${Dialog} close=${() => setSecret("")} label=${t("newKey")}><h2>${t("newKey")}</h2><p>${t("newKeyOnce")}</p><pre class="secret" tabindex="0"><code>${secret}</code></pre><div class="row"><span class="space"></span><button class="button" onClick=${() => setSecret("")}>${t("done")}</button></div><//>`}`;
}
