// The operator's first page: is everything well?
import { html, useEffect, useState } from "../../lib.js";
import { given, local, many, t } from "../../words.js";
import { act, bytes, clockAt, count, label, percent, said, took, when } from "../../show.js";
import { get } from "../../api.js";
import { href } from "../../route.js";
import { Line } from "../../parts/chart.js";
import { Condition } from "../../parts/condition.js";
import { useNames } from "../../parts/named.js";
import { Table } from "../../parts/table.js";

/**
 * The page asks, it is not told: its figures are sums over the last hour, and many of them (how long somebody has
 * waited, what is left of the disk, who was seen when) change although nothing happens. Told of every job of every
 * account, it would add them up anew as often as jobs end; asked, it costs the same on a busy day as on a quiet one,
 * and nothing while nobody looks.
 */
const EVERY_MS = 3000;
/** Waiting longer than this is worth a look. */
const LONG_WAIT_MS = 120_000;
const LONG_CALLBACK_MS = 60_000;
const LITTLE_DISK = 0.1;

/** @param {{ title: string, value: Hole, text: Hole, children?: Hole, kind?: string }} given */
const Figure = ({ title, value, text, children = null, kind = "" }) => html`<div class=${`card figure ${kind}`}>
  <p class="dim">${title}</p><p class="large">${value}</p><p class="dim">${text}</p>${children}</div>`;

/** @param {number} usd */
const dollars = (usd) => `${count(Math.round(usd * 100) / 100)} USD`;

/**
 * Where more is told of a worker account: its back end's page, if it is not inside the program.
 * @param {Wire.WorkerStats} row
 */
const pageOf = (row) => (row.name.includes("/") ? `operator/backends/${row.name.split("/")[0]}` : "operator/backends");

/**
 * Whatever an operator should look at, in words, with where to look.
 * @param {Wire.Overview} view @param {Wire.Stats} stats @param {Wire.Backend[]} backends
 * @param {(row: Wire.WorkerStats) => string} named
 */
function troubles(view, stats, backends, named) {
  /** @type {Trouble[]} */
  const found = [];
  // What has no worker account is in no list of worker accounts.
  for (const one of backends) {
    if (one.enabled !== false && one.health?.condition === "no_account")
      found.push({ text: `${one.name || one.id}: ${t("condition.no_account")}`, to: `operator/backends/${one.id}` });
  }
  for (const one of stats.backends) {
    if (one.custody || (one.condition === "well" && one.usable)) continue;
    found.push({ text: `${named(one)}: ${t(`condition.${one.condition}`)}`, to: pageOf(one) });
  }
  for (const one of view.losses || [])
    found.push({
      text: t(
        "lossAt",
        one.model || title(view, one.family),
        one.backend || one.vendor,
        dollars(-Number(one.marginUsd)),
      ),
      to: "operator/overview",
    });
  if (view.unknownCosts?.length)
    found.push({
      text: t(
        "costUnknown",
        [
          ...new Set(
            view.unknownCosts.map((one) => `${one.model || title(view, one.family)} (${one.backend || one.vendor})`),
          ),
        ].join(", "),
      ),
      to: "operator/overview",
    });
  for (const one of view.warnings || []) found.push({ text: t(`warning.${one.setting}`), to: "operator/overview" });
  if (Number(view.oldestWaitingMs) > LONG_WAIT_MS)
    found.push({
      text: t("waitsLong", took(Number(view.oldestWaitingMs))),
      to: "operator/jobs",
      query: { show: "running" },
    });
  if (view.failingReceivers)
    found.push({ text: many(view.failingReceivers, "receiverOne", "receiverMany"), to: "operator/callbacks" });
  else if (Number(view.oldestCallbackMs) > LONG_CALLBACK_MS)
    found.push({ text: t("callbackLate", took(Number(view.oldestCallbackMs))), to: "operator/callbacks" });
  if (view.diskBytes && Number(view.diskFreeBytes) / view.diskBytes < LITTLE_DISK)
    found.push({ text: t("diskLow", bytes(Number(view.diskFreeBytes))), to: "operator/overview" });
  return found;
}

/** @param {any[]} rows @param {string} name */
const sum = (rows, name) => rows.reduce((all, row) => all + row[name], 0);

/** @param {{ view: Wire.Overview, stats: Wire.Stats }} given */
function Figures({ view, stats }) {
  const { minutes } = view;
  const names = minutes.map((_, place) => clockAt(view.nowMs - (minutes.length - 1 - place) * 60_000));
  const [done, failed] = [sum(minutes, "succeeded"), sum(minutes, "failed")];
  const recent = minutes.slice(-6, -1);
  const pace = (sum(recent, "succeeded") + sum(recent, "failed")) / 5;
  const slowest = [...view.families]
    .filter((row) => row.p95Ms !== null)
    .sort((a, b) => b.jobs - a.jobs)
    .slice(0, 2);
  const p95 = view.p95Ms;
  return html`<div class="figures">
    <${Figure} title=${t("jobsAMinute")} value=${count(Math.round(pace * 10) / 10)}
      text=${done + failed ? t("succeed", percent(done, done + failed)) : t("quietHour")}>
      <${Line} title=${t("jobsAMinute")}
        values=${minutes.map((row, place) => ({ name: names[place], value: row.succeeded + row.failed }))} /><//>
    <${Figure} title=${t("durationP95")} value=${p95 ? took(p95) : "–"}
      text=${
        slowest.length
          ? slowest.map((row) => `${local(row.title)} ${took(Number(row.p95Ms))}`).join(" · ")
          : t("quietHour")
      }>
      <${Line} title=${t("durationP95")} show=${took}
        values=${minutes.map((row, place) => ({ name: names[place], value: row.p95Ms }))} /><//>
    <${Figure} title=${t("heldQuota")} value=${count(view.held)}
      text=${t("inRunning", count(stats.running + stats.waiting))}>
      <p class="dim figure-foot">
        ${view.oldestWaitingMs === null ? t("nobodyWaits") : t("oldestWaits", took(view.oldestWaitingMs))}</p><//>
    <${Figure} title=${t("callbackLag")} kind=${view.failingReceivers ? "warn" : ""}
      value=${view.callbackP99Ms === null ? "–" : took(view.callbackP99Ms)}
        text=${
          view.failingReceivers
            ? many(view.failingReceivers, "receiverOne", "receiverMany")
            : stats.callbacksDue
              ? t("onTheWay", count(stats.callbacksDue))
              : t("allDelivered")
        }>
      <p class="dim figure-foot">
        ${view.callbackP50Ms === null ? t("noneThisHour") : t("halfWithin", took(view.callbackP50Ms))}</p><//>
  </div>`;
}

/** What a family is called by people. @param {Wire.Overview} view @param {string} family */
const title = (view, family) => local(view.families.find((row) => row.family === family)?.title || label(family));

/** @param {{ view: Wire.Overview, stats: Wire.Stats, named: (row: Wire.WorkerStats) => string }} given */
function Pool({ view, stats, named }) {
  const made = (/** @type {Wire.WorkerStats} */ one) =>
    view.makers.find((row) => row.name === one.name || row.name === `${one.backend}/${one.name}`) ||
    view.makers.find((row) => row.name === one.backend);
  return html`<section class="card flush"><${Table} caption=${t("backends")} rows=${stats.backends} columns=${
    /** @type {Column<Wire.WorkerStats>[]} */ ([
      {
        title: t("backend"),
        show: (row) => html`<span class="id"><${Condition} row=${row} />
      <a href=${href(pageOf(row))} title=${row.name}>${named(row)}</a></span>
        ${row.custody ? html` <span class="dim">${t("custodyShort")}</span>` : ""}`,
      },
      {
        title: t("families"),
        show: (row) =>
          html`<span class="dim">${
            made(row)
              ?.families.map((name) => title(view, name))
              .join(", ") || "–"
          }</span>`,
      },
      {
        title: t("busy"),
        show: (row) =>
          html`${
            row.condition === "well"
              ? html`<span class="id">${t("ofAll", row.busy, row.slots)}</span>`
              : html`<span class="warn-text id">${t(`condition.${row.condition}`)}</span>`
          }`,
      },
      {
        title: t("successHour"),
        number: true,
        show: (row) => {
          const one = made(row);
          return one ? percent(one.jobs - one.failed, one.jobs) : "–";
        },
      },
      {
        title: "p50",
        number: true,
        show: (row) => {
          const one = made(row);
          return one?.p50Ms !== null && one?.p50Ms !== undefined
            ? took(one.p50Ms)
            : row.averageExecute
              ? took(row.averageExecute * 1000)
              : "–";
        },
      },
      {
        title: t("earned"),
        number: true,
        show: (row) => {
          const one = made(row);
          return one ? count(one.quota) : "–";
        },
      },
      {
        title: t("lastTrouble"),
        show: (row) =>
          html`<span class="dim break">
          ${
            row.lastErrors?.[0]
              ? `${t(`fault.${row.lastErrors[0].outcome}`)}${
                  row.lastErrors[0].detail ? `: ${said(row.lastErrors[0].detail)}` : ""
                }`
              : "–"
          }</span>`,
      },
    ])
  } /></section>`;
}

/**
 * What callers paid and what vendors took, once vendors say what they took.
 * @param {{ rows: Wire.Margin[], view: Wire.Overview }} given
 */
function Margins({ rows, view }) {
  const money = (/** @type {Wire.Margin} */ row) =>
    row.marginUsd === null || row.marginUsd === undefined
      ? html`<span
    class="dim">–</span>`
      : html`<span class=${row.marginUsd < 0 ? "bad" : ""}>
      ${row.marginUsd < 0 ? "−" : "+"} ${dollars(Math.abs(row.marginUsd))}</span>`;
  return html`<section class="card flush"><header class="inner"><h2>${t("margins")}</h2>
    <span class="dim">${t("lastDays", 30)}</span></header><${Table} caption=${t("margins")} rows=${rows} columns=${
      /** @type {Column<Wire.Margin>[]} */ ([
        { title: t("backend"), show: (row) => row.backend || row.vendor },
        {
          title: t("what"),
          show: (row) => html`${title(view, row.family)}
      ${row.model ? html` <span class="dim">${row.model}</span>` : ""}`,
        },
        { title: t("jobs"), number: true, show: (row) => count(row.jobs) },
        { title: t("callersPaid"), number: true, show: (row) => count(row.quota) },
        {
          title: t("vendorTook"),
          number: true,
          show: (row) =>
            row.cost === null || row.cost === undefined
              ? html`<span class="dim">${t("notSaid")}</span>`
              : `${count(row.cost)} ${row.currency || ""}`,
        },
        {
          title: t("perQuota"),
          number: true,
          show: (row) => (row.costPerQuota === null || row.costPerQuota === undefined ? "–" : count(row.costPerQuota)),
        },
        { title: t("margin"), number: true, show: money },
      ])
    } /></section>`;
}

/** @param {{ view: Wire.Overview }} given */
const Families = ({ view }) => html`<section class="card flush">
  <header class="inner"><h2>${t("byFamily")}</h2><span class="dim">${t("lastHour")}</span></header>
    <${Table} caption=${t("byFamily")} rows=${view.families} empty=${t("quietHour")} columns=${
      /** @type {Column<Wire.FamilyRow>[]} */ ([
        { title: t("what"), show: (row) => local(row.title) },
        { title: t("jobs"), number: true, show: (row) => count(row.jobs) },
        { title: t("success"), number: true, show: (row) => percent(row.jobs - row.failed, row.jobs) },
        { title: "p50", number: true, show: (row) => (row.p50Ms === null ? "–" : took(row.p50Ms)) },
        { title: "p95", number: true, show: (row) => (row.p95Ms === null ? "–" : took(row.p95Ms)) },
        { title: t("Quota"), number: true, show: (row) => count(row.quota) },
      ])
    } /></section>`;

/** @param {{ view: Wire.Overview, nodes: Wire.NodeRow[], stats: Wire.Stats }} given */
const Service = ({ view, nodes, stats }) => html`<section class="card"><h2>${t("service")}</h2><dl class="facts">
  <dt>${t("nodes")}</dt>
    <dd>${nodes.map(
      (node) => html`<span class="block" title=${node.id}>
        ${node.self ? t("thisOne") : node.id.slice(0, 8)} · ${t(
          "seenAgo",
          took(Math.max(0, view.nowMs - node.seenMs || 0)),
        )}</span>`,
    )}</dd>
  <dt>${t("up")}</dt><dd>${took(stats.upMs)}</dd>
  <dt>${t("disk")}</dt>
    <dd>${view.diskBytes ? t("freeOf", bytes(Number(view.diskFreeBytes)), bytes(view.diskBytes)) : t("inBucket")}</dd>
  <dt>${t("lastAct")}</dt>
    <dd>${
      view.lastAct
        ? html`<a href=${href("operator/audit")}>${act(view.lastAct.action)}</a> <span class="dim">
        ${given(view.lastAct.actor)}, ${when(view.lastAct.time)}</span>`
        : "–"
    }</dd>
</dl></section>`;

export function Overview() {
  const [state, setState] = useState(/** @type {Looked | null} */ (null));
  const [problem, setProblem] = useState("");
  // One inside the program is called by its name, a worker account by its back end's and its own.
  const parts = (/** @type {Wire.WorkerStats} */ row) => row.name.split("/");
  const nameOf = useNames((state?.stats.backends || []).flatMap(parts));
  const named = (/** @type {Wire.WorkerStats} */ row) => parts(row).map(nameOf).join(" / ");
  useEffect(() => {
    let stopped = false;
    let timer = 0;
    const look = async () => {
      try {
        const pages = ["overview", "stats", "nodes", "backends"].map((name) => get(`/admin/v1/${name}`));
        const [view, stats, nodes, backends] = (await Promise.all(pages)).map((page) => page.data);
        if (stopped) return;
        setState({ view, stats, nodes, backends });
        setProblem("");
      } catch (error) {
        if (!stopped) setProblem(/** @type {Error} */ (error).message);
      }
      if (!stopped && !document.hidden) timer = window.setTimeout(look, EVERY_MS);
    };
    // Whoever comes back to the page sees what is now, not what was.
    const seen = () => {
      clearTimeout(timer);
      if (!document.hidden) look();
    };
    look();
    document.addEventListener("visibilitychange", seen);
    return () => {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
    };
  }, []);
  if (!state)
    return html`<h1>${problem || " "}</h1>
    <div class="figures">${[1, 2, 3, 4].map(() => html`<div class="card figure waiting"></div>`)}</div>`;
  const { view, stats, nodes, backends } = state;
  const found = troubles(view, stats, backends, named);
  return html`<header class="head">
    <div><h1>${found.length ? many(found.length, "lookOne", "lookMany") : t("wellTitle")}</h1>
      <p class="dim">
        ${[
          many(nodes.length, "nodeOne", "nodeMany"),
          t("jobsNow", count(stats.running), count(stats.waiting)),
          t("upFor", took(stats.upMs)),
        ].join(" · ")}</p></div></header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      found.length > 0 &&
      html`<ul class="troubles">
        ${found.map((one) => html`<li key=${one.text}><a href=${href(one.to, one.query)}>${one.text}</a></li>`)}</ul>`
    }
    <${Figures} view=${view} stats=${stats} />
    <${Pool} view=${view} stats=${stats} named=${named} />
    ${stats.margins.length > 0 && html`<${Margins} rows=${stats.margins} view=${view} />`}
    <div class="columns"><${Families} view=${view} /><${Service} view=${view} nodes=${nodes} stats=${stats} /></div>`;
}
