// Notices: who is told of what and where, and what was told, of an account or of the operators.
import { html, useEffect, useState } from "../lib.js";
import { language, t } from "../words.js";
import { count } from "../show.js";
import { get, post, remove } from "../api.js";
import { Ask } from "./ask.js";
import { Paged, Table, Time, usePages } from "./table.js";

const CHANNELS = ["webhook", "slack", "discord"];
const ACCOUNTS = [
  "balance_low",
  "limit_80",
  "limit_100",
  "key_expiring",
  "plan_renewed",
  "callback_exhausted",
  "jobs_failing",
];
const OPERATORS = ["backend_ill", "margin_negative", "disk_low", "invariant_broken", "certificate_expiring"];

/** The browser's own distance from UTC, as quiet hours have it behind them. */
function offset() {
  const minutes = -new Date().getTimezoneOffset();
  const two = (/** @type {number} */ number) => `${Math.floor(number)}`.padStart(2, "0");
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(size / 60)}:${two(size % 60)}`;
}

/** @param {string | null | undefined} kind */
const kindName = (kind) => (kind ? t(`notice.${kind}`) : t("notice.all"));

/** How a sample went. @param {{ sample: Wire.NoticeSample }} given */
const Sample = ({ sample }) => html`<p role="status">
  <span class=${`tag ${sample.delivered ? "delivered" : "exhausted"}`}>
    ${sample.delivered ? t("taken") : t("notTaken")}</span> <b>${sample.status ?? sample.error}</b>
  <span class="dim">${sample.durationMs} ms</span> <span class="dim break">${sample.answer}</span></p>`;

/** @param {{ base: string, kinds: string[], own: boolean, may: boolean }} given */
function Subscriptions({ base, kinds, own, may }) {
  const [rows, setRows] = useState(/** @type {Wire.SubscriptionRow[] | null} */ (null));
  const [problem, setProblem] = useState("");
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [sample, setSample] = useState(/** @type {Wire.NoticeSample | null} */ (null));
  const failed = (/** @type {Refusal} */ error) => setProblem(error.message);
  const read = () =>
    get(`${base}/subscriptions`).then(({ data }) => {
      setProblem("");
      setRows(data);
    }, failed);
  useEffect(() => {
    read();
  }, [base]);
  /** @type {Asking} */
  const subscribe = {
    title: t("subscribe"),
    text: own ? t("subscribeText") : t("subscribeOperatorsText"),
    action: t("subscribe"),
    fields: [
      { name: "kind", label: t("what"), options: ["", ...kinds], required: true, names: kindName, value: "" },
      { name: "channel", label: t("channel"), options: CHANNELS, required: true, names: (one) => t(`channel.${one}`) },
      { name: "address", label: t("address"), type: "url", required: true },
      ...(own
        ? [
            { name: "below", label: t("noticeBelow"), type: "number", hint: t("noticeBelowHint") },
            { name: "jobs", label: t("noticeJobs"), type: "number", placeholder: "5" },
          ]
        : []),
      { name: "quiet", label: t("quiet"), placeholder: `22:00-07:00 ${offset()}`, hint: t("quietHint") },
    ],
    act: async (given) => {
      // Hours without an offset are those of whoever types them.
      const bare = typeof given.quiet === "string" && !given.quiet.includes(" ");
      const quiet = bare ? `${given.quiet} ${offset()}` : given.quiet;
      await post(`${base}/subscriptions`, { ...given, ...(quiet ? { quiet } : {}), language });
      read();
    },
  };
  const end = (/** @type {Wire.SubscriptionRow} */ row) => remove(`${base}/subscriptions/${row.id}`).then(read, failed);
  const test = (/** @type {Wire.SubscriptionRow} */ row) =>
    post(`${base}/subscriptions/${row.id}/sample`).then(({ data }) => {
      setProblem("");
      setSample(data);
    }, failed);
  return html`<section class="card flush"><header class="inner"><div><h2>${t("subscriptions")}</h2>
      <p class="dim">${t("subscriptionsText")}</p></div>
      ${
        may &&
        html`<button type="button" class="button" onClick=${() => setAsking(subscribe)}>${t("subscribe")}</button>`
      }
      </header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${sample && html`<div class="inner"><${Sample} sample=${sample} /></div>`}
    ${!rows && html`<div class="waiting" aria-busy="true"></div>`}
    ${
      rows &&
      html`<${Table} rows=${rows} caption=${t("subscriptions")} empty=${t("noSubscriptions")} columns=${
        /** @type {Column<Wire.SubscriptionRow>[]} */ ([
          {
            title: t("what"),
            show: (row) => html`<b>${kindName(row.kind)}</b>
            ${
              typeof row.below === "number"
                ? html`<span class="dim block">${t("noticeBelow")} ${count(row.below)}</span>`
                : ""
            }`,
          },
          {
            title: t("address"),
            show: (row) => html`<span class="tag">${t(`channel.${row.channel}`)}</span>
            <span class="dim break">${row.address}</span>`,
          },
          { title: t("quiet"), show: (row) => row.quiet || html`<span class="dim">–</span>` },
          { title: t("since"), show: (row) => html`<${Time} at=${row.createdAt} />` },
          {
            title: "",
            show: (row) =>
              may &&
              html`<span class="actions">
            <button type="button" class="button quiet" onClick=${() => test(row)}>${t("sendSample")}</button>
            <button type="button" class="button quiet danger" onClick=${() => end(row)}>${t("unsubscribe")}</button>
              </span>`,
          },
        ])
      } />`
    }</section>
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}`;
}

/** What the last try met. @param {{ one: Wire.NoticePost }} given */
const Trouble = ({ one }) =>
  one.lastError || (one.lastStatus && one.status !== "delivered")
    ? html`<span class="dim block break">${[one.lastStatus, one.lastError].filter(Boolean).join(" · ")}</span>`
    : null;

/** What became of a notice at an address. @param {{ sent: Wire.NoticePost[] }} given */
const Posts = ({ sent }) =>
  sent.length === 0
    ? html`<span class="dim">${t("toldNobody")}</span>`
    : sent.map(
        (one) => html`<div><span class=${`tag ${one.status}`}>${t(`callback.${one.status}`)}</span>
          <span class="dim break">${t(`channel.${one.channel}`)} · ${one.address}</span>
          <${Trouble} one=${one} /></div>`,
      );

/** @param {{ base: string, own: boolean, may: boolean }} given */
export function Notices({ base, own, may }) {
  const pages = usePages(`${base}?language=${language}`, 20);
  return html`<${Subscriptions} base=${base} kinds=${own ? ACCOUNTS : OPERATORS} own=${own} may=${may} />
    <section class="card flush"><header class="inner"><h2>${t("whatWasTold")}</h2></header>
    <${Paged} pages=${pages} caption=${t("whatWasTold")} empty=${t("noNotices")} columns=${
      /** @type {Column<Wire.Notice>[]} */ ([
        {
          title: t("notice"),
          show: (row) => html`<b class="break">${row.title}</b><span class="block break">${row.text}</span>
          <span class="dim block break">${row.action}</span>`,
        },
        { title: t("since"), show: (row) => html`<${Time} at=${row.since} />` },
        { title: t("sentTo"), show: (row) => html`<${Posts} sent=${row.sent} />` },
      ])
    } /></section>`;
}
