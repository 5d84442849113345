// Keys: what each may do, until when, revoking one, and what was done with them.
import { html, useEffect, useState } from "../../lib.js";
import { t } from "../../words.js";
import { get, post, remove } from "../../api.js";
import { Ask } from "../../parts/ask.js";
import { Secret } from "../../parts/secret.js";
import { Paged, Table, Time, usePages } from "../../parts/table.js";
import { act } from "../../show.js";

const SCOPES = ["submit", "read", "account"];

export function Keys() {
  const [keys, setKeys] = useState(null);
  const [asking, setAsking] = useState(null);
  const [secret, setSecret] = useState("");
  const [problem, setProblem] = useState("");
  const read = () => get("/account/v1/keys").then(({ data }) => setKeys(data), (error) => setProblem(error.message));
  useEffect(() => { read(); }, []);
  const issue = {
    title: t("newKey"), action: t("newKey"),
    fields: [{ name: "name", label: t("name"), placeholder: t("keyNameHint") }, { name: "scopes", label: t("scopes"), type: "checks", options: SCOPES, value: SCOPES, names: (one) => t(`scope.${one}`) }, { name: "expiresAt", label: t("expires"), type: "date", hint: t("expiresHint") }],
    act: async (given) => {
      const { data } = await post("/account/v1/keys", given);
      setSecret(data.api_key || data.key);
      read();
    },
  };
  const revoke = (row) => ({
    title: t("revokeTitle", row.name || row.prefix), text: t("revokeText"), action: t("revoke"), danger: true, fields: [],
    act: async () => { await remove(`/account/v1/keys/${row.id}`); read(); },
  });
  return html`<section class="card flush"><header class="inner"><h2>${t("keys")}</h2><button class="button" onClick=${() => setAsking(issue)}>${t("newKey")}</button></header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${keys && html`<${Table} caption=${t("keys")} rows=${keys} columns=${[
      { title: t("name"), show: (row) => html`<b>${row.name || "–"}</b> <span class="dim code block">${row.prefix}…</span>` },
      { title: t("scopes"), show: (row) => [row.scopes].flat().map((one) => t(`scope.${one}`)).join(", ") },
      { title: t("lastUsed"), show: (row) => (row.lastUsedAt ? html`<${Time} at=${row.lastUsedAt} />` : html`<span class="dim">${t("never")}</span>`) },
      { title: t("expires"), show: (row) => (row.expiresAt ? html`<${Time} at=${row.expiresAt} />` : html`<span class="dim">${t("never")}</span>`) },
      { title: "", show: (row) => html`<button class="button quiet danger" onClick=${() => setAsking(revoke(row))}>${t("revoke")}</button>` },
    ]} />`}
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}
    ${secret && html`<${Secret} title=${t("newKey")} value=${secret} close=${() => setSecret("")} />`}</section><${Acts} />`;
}

/** What callers did to the account itself. */
function Acts() {
  const pages = usePages("/account/v1/acts", 10);
  return html`<section class="card flush"><header class="inner"><h2>${t("acts")}</h2></header>
    <${Paged} pages=${pages} caption=${t("acts")} empty=${t("noActs")} columns=${[
      { title: t("when"), show: (row) => html`<${Time} at=${row.time} />` },
      { title: t("what"), show: (row) => html`<span class="id" title=${row.action}>${act(row.action)}</span>` },
      { title: t("target"), show: (row) => html`<span class="code id">${row.target}</span>` },
    ]} /></section>`;
}
