// Accounts: make one, grant quota with a reason, set limits, keys, suspend.
import { html, useEffect, useState } from "../../lib.js";
import { many, t } from "../../words.js";
import { count } from "../../show.js";
import { get, patch, post, remove, visit } from "../../api.js";
import { go } from "../../route.js";
import { bodyOf } from "../../catalogue.js";
import { Ask } from "../../parts/ask.js";
import { Dialog } from "../../parts/dialog.js";
import { RowDeeds } from "../../parts/row_menu.js";
import { Secret } from "../../parts/secret.js";
import { SettingsFields, described } from "../../parts/settings.js";
import { Paged, Table, Time, usePages } from "../../parts/table.js";

/**
 * Everything that may be changed about an account, from the service's own description: what is added there appears
 * here.
 */
function Limits({ row, close, saved }) {
  const [fields, setFields] = useState(null);
  const [value, setValue] = useState(row);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const groups = get("/admin/v1/groups").then(
      ({ data }) => data.map((one) => one.name),
      () => [],
    );
    const chosen = (names) => (field) =>
      field.name === "group" && names.length ? { ...field, kind: "choice", options: names } : field;
    Promise.all([bodyOf("admin.accounts.change"), groups]).then(
      ([schema, names]) =>
        setFields(
          described(schema)
            .filter((field) => field.name !== "disabled")
            .map(chosen(names)),
        ),
      (error) => setProblem(error.message),
    );
  }, []);
  const submit = (event) => {
    event.preventDefault();
    const changed = (fields || [])
      .map((field) => field.name)
      .filter((name) => value[name] !== undefined && value[name] !== row[name]);
    patch(`/admin/v1/accounts/${row.id}`, Object.fromEntries(changed.map((name) => [name, value[name]]))).then(
      () => {
        saved();
        close();
      },
      (error) => setProblem(error.message),
    );
  };
  return html`<${Dialog} close=${close} label=${t("limits")} kind="wide-dialog">
    <h2 class="break">${t("limitsOf", row.email)}</h2>
    <form onSubmit=${submit}>
      ${
        fields &&
        html`<${SettingsFields} fields=${fields} value=${value} change=${setValue} prefix="limit"
          unset=${t("asItIs")} />`
      }
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <div class="row"><span class="space"></span><button type="button" class="button quiet" onClick=${close}>
        ${t("leave")}</button><button class="button" disabled=${!fields}>${t("save")}</button></div></form><//>`;
}

/** The keys of an account, which an operator may add to and revoke. */
function AccountKeys({ row, close, tell }) {
  const [keys, setKeys] = useState(null);
  const [problem, setProblem] = useState("");
  const base = `/admin/v1/accounts/${row.id}/keys`;
  const read = () =>
    get(base).then(
      ({ data }) => setKeys(data),
      (error) => setProblem(error.message),
    );
  useEffect(() => {
    read();
  }, []);
  const [revoking, setRevoking] = useState(null);
  const act = (work) => work.then(read, (error) => setProblem(error.message));
  return html`<${Dialog} close=${close} label=${t("keys")} kind="code-dialog"><h2>${t("keysOf", row.email)}</h2>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      keys &&
      html`<${Table} caption=${t("keys")} rows=${keys} columns=${[
        { title: t("name"), show: (one) => html`${one.name || "–"} <span class="dim code">${one.prefix}…</span>` },
        {
          title: t("scopes"),
          show: (one) =>
            [one.scopes]
              .flat()
              .map((scope) => t(`scope.${scope}`))
              .join(", "),
        },
        { title: t("lastUsed"), show: (one) => html`<${Time} at=${one.lastUsedAt} />` },
        {
          title: "",
          show: (one) => html`<button class="button quiet danger" onClick=${() => setRevoking(one)}>
          ${t("revoke")}</button>`,
        },
      ]} />`
    }
    <div class="row">
      <button class="button quiet"
        onClick=${() =>
          act(
            post(base, { name: t("byOperator") }).then(({ data }) => {
              close();
              tell(data.api_key);
            }),
          )}>${t("newKey")}</button><span class="space"></span>
            <button class="button" onClick=${close}>${t("close")}</button></div>
    ${
      revoking &&
      html`<${Ask} title=${t("revokeTitle", revoking.name || revoking.prefix)} text=${t("revokeText")}
      action=${t("revoke")} danger=${true} fields=${[]} close=${() => setRevoking(null)}
      act=${() => remove(`${base}/${revoking.id}`).then(read)} />`
    }<//>`;
}

/** By what accounts are listed. */
const ORDERS = ["created", "email", "balance"];

export function Accounts({ who, enter, route }) {
  const text = route.query.q || "";
  const order = ORDERS.includes(route.query.sort) ? route.query.sort : "created";
  const asked = [
    ...(order === "created" ? [] : [`sort=${order}`]),
    ...(text.trim() ? [`q=${encodeURIComponent(text.trim())}`] : []),
  ];
  const pages = usePages(`/admin/v1/accounts${asked.length ? `?${asked.join("&")}` : ""}`, 25);
  const address = (q, sort) => go("operator/accounts", { q, sort: sort === "created" ? "" : sort }, { replace: true });
  const [asking, setAsking] = useState(null);
  const [keys, setKeys] = useState(null);
  const [limits, setLimits] = useState(null);
  const [secret, setSecret] = useState("");
  const [problem, setProblem] = useState("");
  const may = who.operator.role !== "viewer";
  const done = (work) => async (given) => {
    await work(given);
    pages.again();
  };
  const look = (row) =>
    visit(row.id).then(
      (now) => {
        enter(now);
        go("library");
      },
      (error) => setProblem(error.message),
    );
  const asks = {
    create: () => ({
      title: t("newAccount"),
      action: t("newAccount"),
      fields: [
        { name: "email", label: t("email"), type: "email", required: true },
        { name: "balance", label: t("Quota"), type: "number", value: 0 },
      ],
      act: done(async (given) => {
        const { data } = await post("/admin/v1/accounts", given);
        setSecret(data.api_key);
      }),
    }),
    credit: (row) => {
      const key = crypto.randomUUID();
      return {
        title: t("creditTo", row.email),
        action: t("credit"),
        text: t("creditText"),
        fields: [
          { name: "amount", label: t("amount"), type: "number", required: true },
          { name: "reason", label: t("reason"), required: true, placeholder: t("reasonHint") },
        ],
        act: done((given) => post(`/admin/v1/accounts/${row.id}/credit`, { ...given, idempotency_key: key })),
      };
    },
    suspend: (row) => ({
      title: row.disabled ? t("enableTitle", row.email) : t("disableTitle", row.email),
      text: row.disabled ? t("enableText") : t("disableText"),
      action: row.disabled ? t("enable") : t("disable"),
      danger: !row.disabled,
      fields: [],
      act: done(() => patch(`/admin/v1/accounts/${row.id}`, { disabled: !row.disabled })),
    }),
  };
  return html`<header class="head"><div><h1>${t("accounts")}</h1>
    <p class="dim">${pages.rows ? many(pages.total, "accountOne", "accountMany", count(pages.total)) : " "}</p></div>
      <input type="search" class="filter" placeholder=${t("searchAccounts")} aria-label=${t("searchAccounts")}
        value=${text}
        onInput=${(event) => address(event.target.value, order)} />
      <select class="filter order" aria-label=${t("sortBy")} value=${order}
        onChange=${(event) => address(text, event.target.value)}>
        ${ORDERS.map((one) => html`<option value=${one}>${t(`sort.${one}`)}</option>`)}</select>
      ${may && html`<button class="button" onClick=${() => setAsking(asks.create())}>${t("newAccount")}</button>`}
        </header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <section class="card flush">
      <${Paged} pages=${pages} caption=${t("accounts")} empty=${text ? t("nothingFound") : ""} columns=${[
        {
          title: t("email"),
          show: (row) => html`<b class="break">${row.email}</b>
        ${row.disabled ? html` <span class="tag exhausted">${t("suspended")}</span>` : ""}
          ${row.group && row.group !== "default" ? html` <span class="tag">${row.group}</span>` : ""}
            <span class="dim block code clip" title=${row.id}>${row.id}</span>`,
        },
        { title: t("balance"), number: true, show: (row) => count(row.balance) },
        { title: t("Held"), number: true, show: (row) => count(row.freeze_balance) },
        { title: t("queue"), number: true, show: (row) => count(row.max_queue) },
        { title: t("since"), show: (row) => html`<${Time} at=${row.created_at} />` },
        {
          title: "",
          show: (row) =>
            may &&
            html`<${RowDeeds} name=${row.email} items=${[
              { text: t("limits"), act: () => setLimits(row) },
              { text: t("keys"), act: () => setKeys(row) },
              { text: t("look"), act: () => look(row) },
              {
                text: row.disabled ? t("enable") : t("disable"),
                danger: !row.disabled,
                act: () => setAsking(asks.suspend(row)),
              },
            ]}><button class="button quiet" onClick=${() => setAsking(asks.credit(row))}>${t("credit")}</button><//>`,
        },
      ]} /></section>
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}
    ${limits && html`<${Limits} row=${limits} close=${() => setLimits(null)} saved=${pages.again} />`}
    ${keys && html`<${AccountKeys} row=${keys} close=${() => setKeys(null)} tell=${setSecret} />`}
    ${secret && html`<${Secret} title=${t("newKey")} value=${secret} close=${() => setSecret("")} />`}`;
}
