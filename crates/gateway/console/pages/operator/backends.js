// Back ends in the order of fall-back, each with its worker accounts, what they do and what went wrong.
import { html, useEffect, useState } from "../../lib.js";
import { many, t } from "../../words.js";
import { clockAt, count, said, took } from "../../show.js";
import { get, patch, post, remove } from "../../api.js";
import { go, href } from "../../route.js";
import { Ask } from "../../parts/ask.js";
import { Condition, backendCondition, workerCondition } from "../../parts/condition.js";
import { RowDeeds } from "../../parts/row_menu.js";
import { Table } from "../../parts/table.js";
import { NewBackend, Settings } from "./backend_form.js";

/** So many are drawn at first, and so many more on request. */
const PAGE = 20;

/** @param {{ health: Wire.Health | null | undefined }} given */
function Errors({ health }) {
  const errors = health?.last_errors || [];
  if (!errors.length) return null;
  return html`<details><summary>${many(errors.length, "errorOne", "errorMany")}</summary>
    <ul class="errors">${errors.map(
      (one) => html`<li><b>${t(`fault.${one.outcome}`)}</b>
      <span class="break" dir="auto"> ${said(one.detail) || "–"}</span>
        <time class="dim"> ${clockAt(one.at_ms)}</time></li>`,
    )}</ul>
        </details>`;
}

/** @param {string} name @param {Json} value */
const worker = (name, value, more = {}) => ({ name, label: t(`worker.${name}`), ...more, value });
const hours = { placeholder: "08:00-20:00", hint: t("hoursHint"), clears: "" };
const rate = { type: "number", placeholder: t("noLimit"), clears: 0 };
/** A rate without a limit is an empty field. @param {Wire.Worker} row */
const rateOf = (row) => row.per_minute || "";

/** @param {{ told: Told | null }} given */
const Told = ({ told }) => told && html`<p class=${`told ${told.bad ? "bad" : "ok"}`} role="status">${told.text}</p>`;

/**
 * @param {{ row: Wire.Backend, vendors: Wire.VendorRow[], again: () => void, ask: (asking: Asking) => void,
 * may: boolean }} given
 */
function Backend({ row, vendors, again, ask, may }) {
  const [editing, setEditing] = useState(false);
  // What a test found is told where the test is.
  const [told, setTold] = useState(/** @type {Told | null} */ (null));
  const [busy, setBusy] = useState(false);
  const act = async (/** @type {() => unknown} */ work, good = "") => {
    setBusy(true);
    setTold(null);
    try {
      await work();
      setTold(good ? { text: good } : null);
    } catch (error) {
      setTold({ bad: true, text: `${row.name}: ${said(/** @type {Error} */ (error).message)}` });
    }
    setBusy(false);
    again();
  };
  const base = `/admin/v1/backends/${row.id}`;
  const fixed = row.vendor === "embedded";
  /** @type {Asking} */
  const addWorker = {
    title: t("addWorkerTo", row.name),
    action: t("addWorker"),
    fields: [
      worker("name", "", { required: true }),
      worker("credential", "", { type: "password", hint: t("credentialHint") }),
      worker("concurrency", 3, { type: "number" }),
      worker("per_minute", "", rate),
      worker("hours", "", hours),
    ],
    act: async (given) => {
      await post(`${base}/accounts`, given);
      again();
    },
  };
  /** @param {Wire.Worker} one @returns {Asking} */
  const changeWorker = (one) => ({
    title: one.name || "",
    action: t("save"),
    fields: [
      worker("concurrency", one.concurrency, { type: "number" }),
      worker("per_minute", rateOf(one), rate),
      worker("weight", one.weight, { type: "number" }),
      worker("hours", one.hours, hours),
      worker("credential", "", { type: "password", hint: t("credentialKeep") }),
    ],
    act: async (given) => {
      await patch(`${base}/accounts/${one.id}`, given);
      again();
    },
  });
  const removal = (/** @type {string} */ name, /** @type {string} */ path) => ({
    title: t("removeTitle", name),
    text: t("removeText"),
    action: t("remove"),
    danger: true,
    fields: [],
    act: async () => {
      await remove(path);
      again();
    },
  });
  const stop = (/** @type {Wire.Backend} */ one) => ({
    title: t("pauseTitle", one.name),
    text: t("pauseText"),
    action: t("pause"),
    fields: [],
    act: async () => {
      await patch(base, { enabled: false });
      again();
    },
  });
  const condition = backendCondition(row);
  const WorkerDeeds = (/** @type {Wire.Worker} */ one) => {
    const path = `${base}/accounts/${one.id}`;
    const active = one.state === "active";
    const items = [
      active && { text: t("drain"), act: () => act(() => patch(path, { state: "draining" })) },
      {
        text: active ? t("pause") : t("resume"),
        act: () => act(() => patch(path, { state: active ? "paused" : "active" })),
      },
      { text: t("change"), act: () => ask(changeWorker(one)) },
      { text: t("remove"), danger: true, act: () => ask(removal(one.name || "", path)) },
    ];
    return html`<${RowDeeds} name=${one.name} items=${items}><button class="button quiet" disabled=${busy}
      onClick=${() => act(() => post(`${path}/probe`), t("probeGood", one.name))}>${t("probe")}</button><//>`;
  };
  const items = [
    {
      text: row.enabled ? t("pause") : t("resume"),
      act: () => (row.enabled ? ask(stop(row)) : act(() => patch(base, { enabled: true }))),
    },
    { text: t("settings"), act: () => setEditing(true) },
    { text: t("addWorker"), act: () => ask(addWorker) },
    { text: t("remove"), danger: true, act: () => ask(removal(row.name, base)) },
  ];
  const serves = row.operations.length ? row.operations.join(", ") : t("everything");
  const inHand = fixed ? ` · ${t("ofAll", row.busy, row.slots)}` : "";
  return html`<section class="card backend"><header>
      <h2><${Condition} row=${condition} />
        <a href=${href(`operator/backends/${row.id}`)}>${row.name}</a> <span class="dim">
          ${row.vendor === row.name ? "" : row.vendor}
        ${condition.condition === "well" ? "" : ` · ${t(`condition.${condition.condition}`)}`}
        ${row.shadow && html` · <a href=${href("operator/rehearsal")}>${t("rehearsed")}</a>`}</span></h2>
      ${
        !fixed &&
        may &&
        html`<${RowDeeds} name=${row.name} items=${items}>
          <button class="button quiet" disabled=${busy || !row.accounts.length}
            onClick=${() => act(() => post(`${base}/probe`), t("probeGood", row.name))}>
              ${busy ? t("sending") : t("probe")}</button><//>`
      }
      </header>
    <p class="dim break">${row.base_url || t("inside")} · ${serves} · ${t("rank", row.rank)}${inHand}</p>
    <${Told} told=${told} />
    <${Errors} health=${row.health} />
    ${!fixed && !row.accounts.length && html`<p class="hint">${t("noWorkers")}</p>`}
    ${
      row.accounts.length > 0 &&
      html`<${Table} caption=${t("workers")} rows=${row.accounts} columns=${
        /** @type {Column<Wire.Worker>[]} */ ([
          { title: t("name"), show: (one) => html`<${Condition} row=${workerCondition(one)} />${one.name}` },
          { title: t("busy"), show: (one) => t("ofAll", one.busy ?? 0, one.concurrency) },
          {
            title: t("condition"),
            show: (one) => html`${t(`condition.${workerCondition(one).condition}`)}
        ${one.health?.until_ms ? `, ${took(one.health.until_ms - Date.now())}` : ""}
          <${Errors} health=${one.health} />`,
          },
          { title: "", show: (one) => may && WorkerDeeds(one) },
        ])
      } />`
    }
    ${
      editing &&
      html`<${Settings} row=${row} vendor=${vendors.find((one) => one.name === row.vendor)}
      close=${() => setEditing(false)} saved=${again} />`
    }</section>`;
}

/**
 * Whether a back end has the words in its name, its vendor, its address, what it serves or its worker accounts.
 * @param {Wire.Backend} row @param {string} words
 */
const fits = (row, words) =>
  [row.name, row.vendor, row.base_url, ...row.operations, ...row.accounts.map((one) => one.name)]
    .join(" ")
    .toLowerCase()
    .includes(words);

/** @type {Record<string, (a: Wire.Backend, b: Wire.Backend) => number>} */
const ORDERS = {
  rank: () => 0,
  name: (a, b) => a.name.localeCompare(b.name),
  trouble: (a, b) =>
    Number(backendCondition(a).condition === "well") - Number(backendCondition(b).condition === "well"),
};

/** @param {{ who: Runs, route: Route }} given */
export function Backends({ who, route }) {
  const [rows, setRows] = useState(/** @type {Wire.Backend[] | null} */ (null));
  const [vendors, setVendors] = useState(/** @type {Wire.VendorRow[]} */ ([]));
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [adding, setAdding] = useState(false);
  const [told, setTold] = useState(/** @type {Told | null} */ (null));
  const [most, setMost] = useState(PAGE);
  const may = who.operator.role !== "viewer";
  const text = route.query.q || "";
  const order = ORDERS[route.query.sort] ? route.query.sort : "rank";
  const read = () =>
    get("/admin/v1/backends").then(
      ({ data }) => setRows(data),
      (error) => setTold({ bad: true, text: error.message }),
    );
  useEffect(() => {
    read();
    get("/admin/v1/vendors").then(
      ({ data }) => setVendors(data),
      () => {},
    );
    const timer = setInterval(read, 5000);
    return () => clearInterval(timer);
  }, []);
  const address = (/** @type {string} */ q, /** @type {string} */ sort) =>
    go("operator/backends", { q, sort: sort === "rank" ? "" : sort }, { replace: true });
  const found = (rows || []).filter((row) => fits(row, text.trim().toLowerCase())).sort(ORDERS[order]);
  const heading = rows && text ? t("ofAll", count(found.length), count(rows.length)) : t("inOrder");
  return html`<header class="head"><div><h1>${t("backends")}</h1><p class="dim">${heading}</p></div>
      ${
        (rows?.length ?? 0) > 1 &&
        html`<input type="search" class="filter" placeholder=${t("filter")} aria-label=${t("filter")}
        value=${text} onInput=${(event) => address(event.target.value, order)} />
      <select class="filter order" aria-label=${t("sortBy")} value=${order}
        onChange=${(event) => address(text, event.target.value)}>
        ${Object.keys(ORDERS).map((one) => html`<option value=${one}>${t(`sort.${one}`)}</option>`)}</select>`
      }
      ${may && html`<button class="button" onClick=${() => setAdding(true)}>${t("newBackend")}</button>`}</header>
    <${Told} told=${told} />
    ${rows && !found.length && html`<p class="empty">${t("nothingFound")}</p>`}
    ${found.slice(0, most).map(
      (row) => html`<${Backend} key=${row.id} row=${row} vendors=${vendors} again=${read}
      ask=${setAsking} may=${may} />`,
    )}
    ${
      found.length > most &&
      html`<p class="row"><button class="button quiet" onClick=${() => setMost(most + PAGE)}>
      ${t("loadMore")}</button><span class="dim">${count(most)} / ${count(found.length)}</span></p>`
    }
    ${rows?.length === 1 && rows[0].vendor === "embedded" && html`<p class="empty">${t("onlyInside")}</p>`}
    ${
      adding &&
      html`<${NewBackend} vendors=${vendors} close=${() => setAdding(false)}
      made=${(row) => {
        setAdding(false);
        read();
        setTold({ text: t("backendMade", row.name) });
      }} />`
    }
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}`;
}
