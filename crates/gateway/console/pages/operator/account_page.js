// One account as operators see it: what it has, what it used, its movements, jobs, keys and limits.
import { html, useEffect, useState } from "../../lib.js";
import { t } from "../../words.js";
import { bytes, count, exactly, when } from "../../show.js";
import { get, put } from "../../api.js";
import { go, href } from "../../route.js";
import { Ask } from "../../parts/ask.js";
import { Credits } from "../../parts/credits.js";
import { DateRange, rangeOf } from "../../parts/date_range.js";
import { Exports } from "../../parts/exports.js";
import { Plan } from "../../parts/plan.js";
import { RowDeeds } from "../../parts/row_menu.js";
import { settingName } from "../../parts/settings.js";
import { Secret } from "../../parts/secret.js";
import { Statements } from "../../parts/statements.js";
import { Ledger } from "../account/ledger.js";
import { Usage } from "../account/usage.js";
import { AccountKeys, Limits, asksOf, look } from "./account_forms.js";
import { AccountJobs } from "./lists.js";

const PARTS = ["usage", "ledger", "statements", "jobs", "keys", "limits"];
/** Those that are about a span of days. */
const SPANNED = ["usage", "ledger", "jobs"];
/** What is told of an account elsewhere on its page. */
const APART = [
  "id",
  "email",
  "balance",
  "freeze_balance",
  "disabled",
  "stored_bytes",
  "created_at",
  "email_verified_at",
  "notes",
];
/**
 * What is set for an account, whatever the service tells of it.
 * @param {{ row: Wire.Account, may: boolean, change: (asking: Asking) => void }} given
 */
const Terms = ({ row, may, change }) => html`<section class="card"><header><h2>${t("limits")}</h2>
    ${may && html`<button type="button" class="button quiet" onClick=${change}>${t("change")}</button>`}</header>
  <dl class="facts">${Object.entries(row)
    .filter(([name, value]) => !APART.includes(name) && typeof value !== "object")
    .map(
      ([name, value]) => html`<dt>${settingName(name)}</dt>
        <dd class="break">${value === 0 ? t("asConfigured") : typeof value === "number" ? count(value) : `${value}`}
          </dd>`,
    )}</dl></section>`;

/** @param {{ title: string, value: Hole, text: Hole }} given */
const Figure = ({ title, value, text }) => html`<div class="card figure"><p class="dim">${title}</p>
  <p class="large">${value}</p><p class="dim">${text}</p></div>`;

/** @param {{ who: Runs, route: Route, enter: (who: Runs) => void }} given */
export function AccountPage({ who, route, enter }) {
  const id = route.rest[1];
  const [row, setRow] = useState(/** @type {Wire.Account | null} */ (null));
  const [seen, setSeen] = useState(0);
  const [problem, setProblem] = useState("");
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [limits, setLimits] = useState(false);
  const [secret, setSecret] = useState("");
  const may = who.operator.role !== "viewer";
  const part = PARTS.includes(route.query.part) ? route.query.part : "usage";
  const range = rangeOf(route.query);
  const read = () =>
    get(`/admin/v1/accounts/${encodeURIComponent(id)}`).then(
      ({ data }) => {
        setRow(data);
        setSeen((before) => before + 1);
      },
      (error) => setProblem(error.message),
    );
  useEffect(() => {
    setRow(null);
    read();
  }, [id]);
  useEffect(() => {
    if (row) document.title = `${row.email} · Atelier`;
  }, [row?.email]);
  const here = `operator/accounts/${encodeURIComponent(id)}`;
  if (problem && !row)
    return html`<div class="empty"><p class="empty-title">${problem}</p>
    <p><a class="button" href=${href("operator/accounts")}>${t("accounts")}</a></p></div>`;
  if (!row) return html`<section class="card waiting" aria-busy="true"></section>`;
  const asks = asksOf({ done: read, tell: setSecret });
  const base = `accountId=${row.id}`;
  const account = `/admin/v1/accounts/${encodeURIComponent(row.id)}`;
  /** @type {Record<string, () => Hole>} */
  const views = {
    usage: () => html`<${Usage} key=${range.asked} base=${`/admin/v1/usage?${base}`} range=${range} />`,
    ledger: () => html`<${Ledger} base=${`/admin/v1/ledger?${base}`} range=${range} />`,
    statements: () => html`<${Statements} base=${`${account}/statements`} />
      <${Exports} base=${`${account}/exports`} archive=${`${account}/archive`} text=${t("exportsText")} />`,
    jobs: () => html`<${AccountJobs} row=${row} range=${range} />`,
    keys: () => html`<${AccountKeys} row=${row} may=${may} tell=${setSecret} />`,
    limits: () => html`<${Terms} row=${row} may=${may} change=${() => setLimits(true)} />`,
  };
  const items = [
    { text: t("limits"), act: () => setLimits(true) },
    { text: t("notes"), act: () => setAsking(asks.notes(row)) },
    { text: t("look"), act: () => look(row, enter).catch((error) => setProblem(error.message)) },
    {
      text: row.disabled ? t("enable") : t("disable"),
      danger: !row.disabled,
      act: () => setAsking(asks.suspend(row)),
    },
  ];
  const failed = (/** @type {Refusal} */ error) => setProblem(error.message);
  /** What was to come is taken back by giving the same plan again. @param {Wire.AccountPlan} plan */
  const keepPlan = (plan) => put(`${account}/plan`, { plan: plan.plan }).then(read, failed);
  const planDeeds = (/** @type {Wire.AccountPlan} */ plan) =>
    html`<span class="actions">
      ${
        (plan.ends || plan.next) &&
        html`<button type="button" class="button quiet" onClick=${() => keepPlan(plan)}>
          ${t("planKeep", plan.plan)}</button>`
      }
      <button type="button" class="button quiet" onClick=${() => asks.plan(row, plan).then(setAsking, failed)}>
        ${t(plan.plan ? "planChange" : "planGive")}</button>
      ${
        plan.plan &&
        !plan.ends &&
        html`<button type="button" class="button quiet danger" onClick=${() => setAsking(asks.endPlan(row, plan))}>
          ${t("planEnd")}</button>`
      }</span>`;
  const room = row.max_storage ? t("ofRoom", bytes(row.max_storage)) : t("kept");
  return html`<p class="crumbs"><a href=${href("operator/accounts")}>${t("accounts")}</a></p>
    <header class="head"><div><h1 class="break">${row.email}</h1>
      <p class="dim break"><span class="code">${row.id}</span> · ${t("since")}
        <span title=${exactly(row.created_at)}> ${when(row.created_at)}</span>
        ${row.group && row.group !== "default" ? html` <span class="tag">${row.group}</span>` : ""}
        ${row.disabled ? html` <span class="tag exhausted">${t("suspended")}</span>` : ""}</p></div>
      ${
        may &&
        html`<${RowDeeds} name=${row.email} items=${items}>
          <button type="button" class="button" onClick=${() => setAsking(asks.credit(row))}>${t("credit")}</button><//>`
      }</header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      row.notes &&
      html`<section class="card notes" aria-label=${t("notes")}><div><h2>${t("notes")}</h2>
        <p class="noted" dir="auto">${row.notes}</p></div>
      ${
        may &&
        html`<button type="button" class="button quiet" onClick=${() => setAsking(asks.notes(row))}>
        ${t("change")}</button>`
      }</section>`
    }
    <div class="figures">
      <${Figure} title=${t("balance")} value=${count(row.balance)} text=${t("quota")} />
      <${Figure} title=${t("Held")} value=${count(row.freeze_balance)} text=${t("heldBy")} />
      <${Figure} title=${t("queue")} value=${count(row.max_queue)} text=${t("unfinishedMost")} />
      <${Figure} title=${t("storage")} value=${bytes(row.stored_bytes)} text=${room} /></div>
    <${Plan} path=${`${account}/plan`} seen=${seen} deeds=${may ? planDeeds : null} empty=${may} />
    <${Credits} path=${`${account}/credits`} seen=${seen} />
    <nav class="tabs" aria-label=${row.email}>
      ${PARTS.map(
        (one) => html`<a class=${one === part ? "active" : ""} aria-current=${one === part ? "page" : undefined}
          href=${href(here, { ...route.query, part: one === "usage" ? "" : one })}>${t(one)}</a>`,
      )}</nav>
    ${
      SPANNED.includes(part) &&
      html`<${DateRange} range=${range}
        change=${(more) => go(here, { ...route.query, ...more }, { replace: true })} />`
    }
    ${views[part]()}
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}
    ${limits && html`<${Limits} row=${row} close=${() => setLimits(false)} saved=${read} />`}
    ${secret && html`<${Secret} title=${t("newKey")} value=${secret} close=${() => setSecret("")} />`}`;
}
