// Rehearsals: back ends that get copies of requests after they were answered, and how they compare.
import { html, useEffect, useState } from "../../lib.js";
import { t } from "../../words.js";
import { count, percent, said } from "../../show.js";
import { get, patch, remove } from "../../api.js";
import { href } from "../../route.js";
import { Ask } from "../../parts/ask.js";
import { RowDeeds } from "../../parts/row_menu.js";
import { Table, Time } from "../../parts/table.js";

/** Copies are made while somebody looks. */
const EVERY_MS = 5000;
const TAGS = { running: "delivered", cap_spent: "due", slow: "exhausted", off: "due" };

/** @param {number | null | undefined} usd */
const dollars = (usd) => `${count(Math.round(Number(usd) * 1_000_000) / 1_000_000)} USD`;
/** @param {number} seconds */
const seconds = (seconds) => t("rehearsalSeconds", count(Math.round(seconds * 10) / 10));

/** How the calls of one side went. @param {Wire.RehearsalSide} side @param {number} calls */
const Side = (side, calls) => html`<span>${t("rehearsalSucceeded", percent(side.succeeded, calls))}</span><br />
  <span class="dim">${side.costed ? t("rehearsalCostEach", dollars(side.cost / side.costed)) : t("rehearsalNoCost")} ·
    ${seconds(side.seconds)}</span>`;

/** Whether a cost is told. @param {number | null | undefined} usd */
const isKnown = (usd) => usd !== null && usd !== undefined;

/** How one call went. @param {Wire.RehearsedSide} side */
const Call = (side) =>
  html`<span>${side.succeeded ? t("rehearsalResults", count(side.count), side.size || "–") : t("failed")}</span><br />
  <span class="dim">${isKnown(side.cost) ? `${dollars(side.cost)} · ` : ""}${seconds(side.seconds)}</span>`;

/** What differs, in words with their counts. @param {Wire.RehearsalSum} sum */
const differences = (sum) =>
  [
    ["status", sum.status],
    ["count", sum.count],
    ["size", sum.size],
  ]
    .filter(([, calls]) => calls)
    .map(([what, calls]) => `${count(calls)} ${t(`rehearsalDiffers.${what}`)}`)
    .join(" · ");

/** Copies that were not made, by reason. @param {Wire.RehearsalMissed} missed */
const missing = (missed) =>
  Object.entries(missed)
    .filter(([, calls]) => calls)
    .map(([why, calls]) => `${count(calls)} ${t(`rehearsalMissed.${why}`)}`)
    .join(" · ");

/** @param {{ row: Wire.Rehearsal, may: boolean, ask: (asking: Asking) => void, again: () => void }} given */
function One({ row, may, ask, again }) {
  const path = `/admin/v1/backends/${row.id}`;
  /** @type {Asking} */
  const change = {
    title: row.name,
    action: t("save"),
    fields: shadowFields(row),
    act: async (given) => {
      await patch(path, { shadow: shadowOf(given) });
      again();
    },
  };
  const clear = {
    title: t("rehearsalClearTitle", row.name),
    text: t("rehearsalClearText"),
    action: t("rehearsalClear"),
    fields: [],
    act: async () => {
      await remove(`/admin/v1/rehearsal/${row.id}`);
      again();
    },
  };
  const end = {
    title: t("rehearsalEndTitle", row.name),
    text: t("rehearsalEndText"),
    action: t("rehearsalEnd"),
    danger: true,
    fields: [],
    act: async () => {
      await patch(path, { shadow: null });
      again();
    },
  };
  const items = [
    { text: t("rehearsalClear"), act: () => ask(clear) },
    { text: t("rehearsalEnd"), danger: true, act: () => ask(end) },
  ];
  const notMade = missing(row.missed);
  return html`<section class="card backend"><header>
      <h2><a href=${href(`operator/backends/${row.id}`)}>${row.name}</a>
        <span class=${`tag ${TAGS[row.state]}`}>${t(`rehearsalState.${row.state}`)}</span></h2>
      ${
        may &&
        html`<${RowDeeds} name=${row.name} items=${items}>
          <button class="button quiet" onClick=${() => ask(change)}>${t("change")}</button><//>`
      }</header>
    <p class="dim">${t("rehearsalGets", percent(row.share, 1))} ·
      ${t("rehearsalSpent", dollars(row.spent), dollars(row.cap))}
      ${row.since && html` · ${t("rehearsalSince")} <${Time} at=${row.since} />`}</p>
    ${row.paused_until && html`<p class="hint">${t("rehearsalPaused")} <${Time} at=${row.paused_until} /></p>`}
    ${
      row.calls > 0 &&
      html`<p class="large">${t("rehearsalAlike", percent(row.alike, row.calls), count(row.calls))}</p>`
    }
    ${notMade && html`<p class="hint">${t("rehearsalNotMade", notMade)}</p>`}
    <${Table} caption=${t("rehearsal")} rows=${row.sums} empty=${t("rehearsalNothing")} columns=${
      /** @type {Column<any>[]} */ ([
        { title: t("rehearsalWhat"), show: (sum) => html`<b class="break">${sum.model || sum.operation}</b>` },
        { title: t("rehearsalCopies"), number: true, show: (sum) => count(sum.calls) },
        { title: t("rehearsalSame"), number: true, show: (sum) => percent(sum.alike, sum.calls) },
        { title: t("rehearsalDifferent"), show: (sum) => differences(sum) || "–" },
        { title: t("rehearsalAnswered"), show: (sum) => Side(sum.answered, sum.calls) },
        { title: t("rehearsalCopied"), show: (sum) => Side(sum.copied, sum.calls) },
      ])
    } />
    ${
      row.latest.length > 0 &&
      html`<details><summary>${t("rehearsalLatest")}</summary>
        <${Table} caption=${t("rehearsalLatest")} rows=${row.latest} columns=${
          /** @type {Column<any>[]} */ ([
            { title: t("rehearsalAt"), show: (call) => html`<${Time} at=${call.at} />` },
            {
              title: t("rehearsalWhat"),
              show: (call) => html`<span class="break">${call.model || call.operation}</span>`,
            },
            {
              title: t("rehearsalDifferent"),
              show: (call) =>
                html`${call.differs.map((/** @type {string} */ what) => t(`rehearsalDiffers.${what}`)).join(", ")}
                ${call.said && html`<br /><span class="dim break" dir="auto">${said(call.said)}</span>`}`,
            },
            {
              title: t("rehearsalAnswered"),
              show: (call) => html`<span class="break">${call.answered.backend || t("inside")}</span><br />
                ${Call(call.answered)}`,
            },
            { title: t("rehearsalCopied"), show: (call) => Call(call.copied) },
          ])
        } /></details>`
    }</section>`;
}

/** @param {Values} given */
const shadowOf = ({ share, cap }) => ({ share: Number(share) / 100, cap });

/** @param {Wire.Rehearsal} [row] @returns {AskField[]} */
const shadowFields = (row = undefined) => [
  {
    name: "share",
    label: t("rehearsalShare"),
    type: "number",
    required: true,
    value: row ? Math.round(row.share * 100_000) / 1000 : 5,
  },
  {
    name: "cap",
    label: t("rehearsalCap"),
    type: "number",
    required: true,
    value: row ? row.cap : "",
    hint: t("rehearsalCapHint"),
  },
];

/** @param {{ who: Runs }} given */
export function Rehearsal({ who }) {
  const [rows, setRows] = useState(/** @type {Wire.Rehearsal[] | null} */ (null));
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [problem, setProblem] = useState("");
  const may = who.operator.role !== "viewer";
  const read = () =>
    get("/admin/v1/rehearsal").then(
      ({ data }) => {
        setRows(data);
        setProblem("");
      },
      (error) => setProblem(error.message),
    );
  useEffect(() => {
    read();
    const timer = setInterval(read, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  /** @param {Wire.Backend[]} backends @returns {Asking} */
  const begin = (backends) => ({
    title: t("rehearse"),
    text: t("rehearseText"),
    action: t("rehearse"),
    fields: [
      {
        name: "backend",
        label: t("rehearsalBackend"),
        required: true,
        options: backends.map((one) => one.id),
        names: (id) => backends.find((one) => one.id === id)?.name || id,
      },
      ...shadowFields(),
    ],
    act: async ({ backend, ...given }) => {
      await patch(`/admin/v1/backends/${backend}`, { shadow: shadowOf(given) });
      read();
    },
  });
  const ask = () =>
    get("/admin/v1/backends").then(
      ({ data }) => {
        const free = data.filter((/** @type {Wire.Backend} */ one) => one.vendor !== "embedded" && !one.shadow);
        if (free.length) setAsking(begin(free));
        else setProblem(t("rehearsalNoBackend"));
      },
      (error) => setProblem(error.message),
    );
  return html`<header class="head"><div><h1>${t("rehearsal")}</h1><p class="dim">${t("rehearsalText")}</p></div>
    ${may && html`<button class="button" onClick=${ask}>${t("rehearse")}</button>`}</header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${!rows && !problem && html`<div class="waiting" aria-busy="true"></div>`}
    ${rows && !rows.length && html`<section class="card"><p class="empty small">${t("noRehearsals")}</p></section>`}
    ${rows?.map((row) => html`<${One} key=${row.id} row=${row} may=${may} ask=${setAsking} again=${read} />`)}
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}`;
}
