// Keys: what each may do and spend, until when, those below it, new secrets, revoking one, and what was done with them.
import { html, useEffect, useState } from "../../lib.js";
import { given, t } from "../../words.js";
import { get, patch, post, remove } from "../../api.js";
import { Ask } from "../../parts/ask.js";
import { RowDeeds } from "../../parts/row_menu.js";
import { Secret } from "../../parts/secret.js";
import { Paged, Table, Time, usePages } from "../../parts/table.js";
import { act, count } from "../../show.js";

const SCOPES = ["submit", "read", "account"];

const WINDOWS = ["day", "week", "month", "total"];
const LISTS = /** @type {const} */ (["operations", "models", "addresses"]);

/** What a key may spend and has, in one line. @param {Wire.Key} row */
function spending(row) {
  const limits = (row.limits || []).map((one) =>
    t("spentOf", count(one.spent), count(one.quota), t(`window.${one.window}`)),
  );
  const lists = LISTS.filter((name) => row[name]).map((name) => row[name]?.join(", "));
  const rate = row.submitsPerSecond ? [t("perSecond", row.submitsPerSecond)] : [];
  const queue = row.maxQueue ? [t("inQueue", row.maxQueue)] : [];
  return [...limits, ...lists, ...rate, ...queue].join(" · ");
}

/** Keys with those below each right behind it, and how deep each is. @param {Wire.Key[]} keys */
function inLine(keys) {
  const known = new Set(keys.map((one) => one.id));
  /** @param {string} id @param {number} depth @returns {(Wire.Key & { depth: number })[]} */
  const below = (id, depth) =>
    keys.filter((one) => one.parentId === id).flatMap((one) => [{ ...one, depth }, ...below(one.id, depth + 1)]);
  const first = keys.filter((one) => !known.has(one.parentId || ""));
  return first.flatMap((one) => [{ ...one, depth: 0 }, ...below(one.id, 1)]);
}

/** What a form says of a key's limits; what is left empty is none. @param {Values} given */
function termsOf(given) {
  const list = (/** @type {string} */ text) => (text ? text.split(/[\s,]+/).filter(Boolean) : null);
  const limits = WINDOWS.filter((window) => given[window] !== undefined).map((window) => ({
    window,
    quota: given[window],
  }));
  /** @type {Values} */
  const terms = {
    limits: limits.length ? limits : null,
    submitsPerSecond: given.submitsPerSecond ?? null,
    maxQueue: given.maxQueue ?? null,
    note: given.note ?? null,
  };
  for (const name of LISTS) terms[name] = list(given[name]);
  return terms;
}

export function Keys() {
  const [keys, setKeys] = useState(/** @type {Wire.Key[] | null} */ (null));
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [secret, setSecret] = useState("");
  const [problem, setProblem] = useState("");
  const read = () =>
    get("/account/v1/keys").then(
      ({ data }) => setKeys(data),
      (error) => setProblem(error.message),
    );
  useEffect(() => {
    read();
  }, []);
  /** @type {Asking} */
  const issue = {
    title: t("newKey"),
    action: t("newKey"),
    fields: [
      { name: "name", label: t("name"), placeholder: t("keyNameHint") },
      {
        name: "scopes",
        label: t("scopes"),
        type: "checks",
        options: SCOPES,
        value: SCOPES,
        names: (one) => t(`scope.${one}`),
      },
      { name: "expiresAt", label: t("expires"), type: "date", hint: t("expiresHint") },
    ],
    act: async (given) => {
      const { data } = await post("/account/v1/keys", given);
      setSecret(data.api_key);
      read();
    },
  };
  const revoke = (/** @type {Wire.Key} */ row) => ({
    title: t("revokeTitle", row.name || row.prefix),
    text: t("revokeText"),
    action: t("revoke"),
    danger: true,
    fields: [],
    act: async () => {
      await remove(`/account/v1/keys/${row.id}`);
      read();
    },
  });
  /** @param {Wire.Key} row @returns {Asking} */
  const limit = (row) => ({
    title: t("limitsTitle", row.name || row.prefix),
    text: t("limitsText"),
    action: t("save"),
    fields: [
      ...WINDOWS.map((window) => ({
        name: window,
        label: t("limitIn", t(`window.${window}`)),
        type: "number",
        value: row.limits?.find((one) => one.window === window)?.quota,
      })),
      ...LISTS.map((name) => ({
        name,
        label: t(`only.${name}`),
        value: row[name]?.join(", "),
        placeholder: { operations: "artgen.*", models: "image-*", addresses: "203.0.113.0/24" }[name],
      })),
      { name: "submitsPerSecond", label: t("submitsASecond"), type: "number", value: row.submitsPerSecond },
      { name: "maxQueue", label: t("unfinishedMost"), type: "number", value: row.maxQueue },
      { name: "note", label: t("note"), value: row.note },
    ],
    act: async (given) => {
      await patch(`/account/v1/keys/${row.id}`, termsOf(given));
      read();
    },
  });
  /** @param {Wire.Key} row @returns {Asking} */
  const rotate = (row) => ({
    title: t("newSecretTitle", row.name || row.prefix),
    text: t("newSecretText"),
    action: t("newSecret"),
    fields: [{ name: "overlapSeconds", label: t("overlap"), type: "number", value: 3600 }],
    act: async (given) => {
      const { data } = await post(`/account/v1/keys/${row.id}/rotate`, given);
      setSecret(data.api_key);
      read();
    },
  });
  return html`<section class="card flush"><header class="inner"><h2>${t("keys")}</h2>
    <button class="button" onClick=${() => setAsking(issue)}>${t("newKey")}</button></header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      keys &&
      html`<${Table} caption=${t("keys")} rows=${inLine(keys)} columns=${
        /** @type {Column<Wire.Key & { depth: number }>[]} */ ([
          {
            title: t("name"),
            show: (row) => html`<b>${"↳ ".repeat(row.depth)}${given(row.name) || "–"}</b> <span class="dim code block">
          ${row.prefix}…</span>${row.note && html`<span class="dim block" dir="auto">${row.note}</span>`}`,
          },
          { title: t("limits"), show: (row) => spending(row) || html`<span class="dim">${t("noLimits")}</span>` },
          {
            title: t("scopes"),
            show: (row) =>
              [row.scopes]
                .flat()
                .map((one) => t(`scope.${one}`))
                .join(", "),
          },
          {
            title: t("lastUsed"),
            show: (row) =>
              row.lastUsedAt ? html`<${Time} at=${row.lastUsedAt} />` : html`<span class="dim">${t("never")}</span>`,
          },
          {
            title: t("expires"),
            show: (row) =>
              row.expiresAt ? html`<${Time} at=${row.expiresAt} />` : html`<span class="dim">${t("never")}</span>`,
          },
          {
            title: "",
            show: (row) =>
              html`<${RowDeeds} name=${row.name || row.prefix} items=${[
                { text: t("newSecret"), act: () => setAsking(rotate(row)) },
                { text: t("revoke"), danger: true, act: () => setAsking(revoke(row)) },
              ]}><button class="button quiet" onClick=${() => setAsking(limit(row))}>${t("limits")}</button><//>`,
          },
        ])
      } />`
    }
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}
    ${secret && html`<${Secret} title=${t("newKey")} value=${secret} close=${() => setSecret("")} />`}</section>
      <${Acts} />`;
}

/** What callers did to the account itself. */
function Acts() {
  const pages = usePages("/account/v1/acts", 10);
  return html`<section class="card flush"><header class="inner"><h2>${t("acts")}</h2></header>
    <${Paged} pages=${pages} caption=${t("acts")} empty=${t("noActs")} columns=${
      /** @type {Column<Wire.AccountAct>[]} */ ([
        { title: t("when"), show: (row) => html`<${Time} at=${row.time} />` },
        { title: t("what"), show: (row) => html`<span class="id" title=${row.action}>${act(row.action)}</span>` },
        { title: t("target"), show: (row) => html`<span class="code id">${row.target}</span>` },
      ])
    } /></section>`;
}
