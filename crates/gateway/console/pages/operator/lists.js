// The operator's lists: jobs of everybody, callbacks, what operators did.
import { html, useEffect, useState } from "../../lib.js";
import { given, local, many, t } from "../../words.js";
import { act, count, deed, isFinal, state, why, words } from "../../show.js";
import { post } from "../../api.js";
import { go, href } from "../../route.js";
import { catalogue } from "../../catalogue.js";
import { DateRange, rangeOf } from "../../parts/date_range.js";
import { useNames } from "../../parts/named.js";
import { Paged, Time, usePages } from "../../parts/table.js";

/**
 * @param {{ title: string, text?: Hole, unit?: [string, string] | null, pages: Pages, columns: Column<any>[],
 * filters?: Hole, below?: Hole, empty?: string }} given
 */
const List = ({
  title,
  text = "",
  unit = null,
  pages,
  columns,
  filters = null,
  below = null,
  empty = "",
}) => html`<header
  class="head">
    <div><h1>${title}</h1>
      <p class="dim">
        ${
          pages.rows
            ? text || (unit ? many(pages.total, unit[0], unit[1], count(pages.total)) : count(pages.total))
            : " "
        }</p></div>${filters}</header>${below}
  <section class="card flush"><${Paged} pages=${pages} caption=${title} columns=${columns} empty=${empty} /></section>`;

/** How a job went, as the kind of its mark. @type {Record<string, string>} */
const MARKS = { SUCCESS: "delivered", FAILED: "exhausted" };

/** @type {Record<string, string>} */
const SHOWN = { all: "", running: "&unfinished=true", done: "&status=success", failed: "&status=failed" };

/** What an operation is called by people. */
function useKinds() {
  const [all, setAll] = useState(/** @type {All | null} */ (null));
  useEffect(() => {
    catalogue().then(setAll, () => {});
  }, []);
  return (/** @type {string} */ name) => {
    const one = all?.operations.find((operation) => operation.name === name);
    return one ? `${local(one.family)} · ${deed(name)}` : name;
  };
}

/**
 * What is told of a job in any list: what, how it went, for how much, when.
 * @param {(name: string) => string} kinds @returns {Column<Wire.ServedJob>[]}
 */
const jobColumns = (kinds) => [
  {
    title: t("what"),
    show: (row) => html`<a class="words clamp" dir="auto" href=${href(`job/${row.jobId}`)}>${words(row)}</a>
      <span class="dim block" title=${row.operation}>${[kinds(row.operation), row.model]
        .filter(Boolean)
        .join(" · ")}</span>`,
  },
  {
    title: t("status"),
    show: (row) => html`<span class=${`tag ${MARKS[row.status] || "due"}`}>
        ${state(row)}${isFinal(row) ? "" : ` ${row.progress} %`}</span>
      ${row.status === "FAILED" ? html`<span class="dim block">${why(row.message)}</span>` : ""}`,
  },
  {
    title: t("Quota"),
    number: true,
    show: (row) => (isFinal(row) ? count(row.quota) : html`<span class="dim">${count(row.held)} ${t("held")}</span>`),
  },
  { title: t("when"), show: (row) => html`<${Time} at=${row.createdAt} />` },
];

/** The jobs of one account, on its page. @param {{ row: Wire.Account, range: Span }} given */
export function AccountJobs({ row, range }) {
  const pages = usePages(`/admin/v1/jobs?accountId=${encodeURIComponent(row.id)}${range.asked}`, 25);
  const kinds = useKinds();
  return html`<section class="card flush"><header class="inner"><h2>${t("jobs")}</h2>
      <a class="button quiet" href=${href("operator/jobs", { account: row.id })}>${t("searchThese")}</a></header>
    <${Paged} pages=${pages} caption=${t("jobs")} empty=${t("noJobs")} columns=${jobColumns(kinds)} /></section>`;
}

/** @param {{ who: Runs, route: Route }} given */
export function Jobs({ who, route }) {
  const show = SHOWN[route.query.show] !== undefined ? route.query.show : "all";
  const text = route.query.q || "";
  const span = rangeOf(route.query, 0);
  const account = route.query.account || "";
  const asked =
    (account ? `&accountId=${encodeURIComponent(account)}` : "") +
    (text.trim() ? `&q=${encodeURIComponent(text.trim())}` : "");
  const pages = usePages(`/admin/v1/jobs?${`${SHOWN[show]}${asked}${span.asked}`.slice(1)}`, 25);
  const [problem, setProblem] = useState("");
  const rows = pages.rows || [];
  const named = useNames([account, ...rows.flatMap((row) => [row.accountId, row.backend, row.worker])]);
  const kinds = useKinds();
  const told = jobColumns(kinds);
  const may = who.operator.role !== "viewer";
  const cancel = (/** @type {Wire.ServedJob} */ row) =>
    post(`/admin/v1/jobs/${encodeURIComponent(row.jobId)}/cancel`).then(
      () => {
        setProblem("");
        pages.again();
      },
      (error) => setProblem(error.message),
    );
  const address = (/** @type {string} */ one, q = text) => ({ ...route.query, show: one === "all" ? "" : one, q });
  const filters = html`<input type="search" class="filter" placeholder=${t("searchJobs")} aria-label=${t("searchJobs")}
    value=${text} onInput=${(event) => go("operator/jobs", address(show, event.target.value), { replace: true })} />
    <nav class="chips" aria-label=${t("filters")}>
      ${Object.keys(SHOWN).map(
        (one) => html`<a class=${`chip${one === show ? " active" : ""}`}
          aria-current=${one === show ? "true" : undefined} href=${href("operator/jobs", address(one))}>
            ${t(`show.${one}`)}</a>`,
      )}</nav>`;
  const spans = html`<${Spans} page="operator/jobs" route=${route} span=${span} />
    ${
      account &&
      html`<p class="row narrowed"><span class="tag break">${t("jobsOf", named(account))}</span>
        <a href=${href("operator/jobs", { ...route.query, account: "" })}>${t("jobsOfAll")}</a></p>`
    }`;
  return html`${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <${List} title=${t("jobs")} below=${spans} unit=${["jobOne", "jobMany"]} pages=${pages} filters=${filters}
      empty=${text || show !== "all" || asked || span.asked ? t("nothingFound") : t("noJobs")} columns=${
        /** @type {Column<Wire.ServedJob>[]} */ ([
          told[0],
          {
            title: t("account"),
            show: (row) => html`<a class="dim break" title=${row.accountId}
            href=${href(`operator/accounts/${row.accountId}`)}>${named(row.accountId)}</a>`,
          },
          told[1],
          {
            title: t("backend"),
            show: (row) =>
              html`<span class="dim">
                ${[row.backend || "", row.worker || ""].filter(Boolean).map(named).join(" / ") || "–"}</span>`,
          },
          told[2],
          told[3],
          {
            title: "",
            show: (row) =>
              may &&
              !isFinal(row) &&
              html`<button class="button quiet danger" onClick=${() => cancel(row)}>${t("cancel")}</button>`,
          },
        ])
      } />`;
}

/** What a list asks for a span of days, as the whole query of its address. @param {Span} span */
const spanAsked = (span) => (span.asked ? `?${span.asked.slice(1)}` : "");

/** The span of days of a list, which stands above it. @param {{ page: string, route: Route, span: Span }} given */
const Spans = ({ page, route, span }) => html`<${DateRange} range=${span} usual=${0}
  change=${(more) => go(page, { ...route.query, ...more }, { replace: true })} />`;

/** @param {{ route: Route }} given */
export function Callbacks({ route }) {
  const span = rangeOf(route.query, 0);
  const pages = usePages(`/admin/v1/callbacks${spanAsked(span)}`, 25);
  return html`<${List} title=${t("callbacks")} unit=${["callbackOne", "callbackMany"]} pages=${pages}
    below=${html`<${Spans} page="operator/callbacks" route=${route} span=${span} />`}
    empty=${span.asked ? t("nothingFound") : t("noCallbacks")} columns=${
      /** @type {Column<Wire.Callback>[]} */ ([
        {
          title: t("address"),
          show: (row) => html`<span class="break">${row.url}</span>
      <a class="dim block code" href=${href(`job/${row.jobId}`)}>${row.jobId}</a>`,
        },
        {
          title: t("status"),
          show: (row) => html`<span class=${`tag ${row.status}`}>${t(`callback.${row.status}`)}</span>`,
        },
        { title: t("tries"), number: true, show: (row) => row.attempts },
        {
          title: t("answer"),
          show: (row) =>
            html`<span class="dim break">${[row.lastStatus, row.lastError].filter(Boolean).join(" · ") || "–"}</span>`,
        },
        { title: t("when"), show: (row) => html`<${Time} at=${row.createdAt} />` },
        { title: t("nextTryAt"), show: (row) => html`<${Time} at=${row.nextAttemptAt} />` },
      ])
    } />`;
}

/** What identifiers look like, and which pages tell of what has one. */
const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
/** @type {Record<string, string>} */
const PAGES_OF = { account: "accounts", backend: "backends" };

/** @param {{ route: Route }} given */
export function Audit({ route }) {
  const span = rangeOf(route.query, 0);
  const pages = usePages(`/admin/v1/audit${spanAsked(span)}`, 25);
  const named = useNames((pages.rows || []).map((row) => row.target).filter((target) => ID.test(target)));
  return html`<${List} title=${t("audit")} text=${t("auditText")} pages=${pages}
    below=${html`<${Spans} page="operator/audit" route=${route} span=${span} />`}
    empty=${span.asked ? t("nothingFound") : ""} columns=${
      /** @type {Column<Wire.AuditRow>[]} */ ([
        { title: t("when"), show: (row) => html`<${Time} at=${row.time} />` },
        { title: t("actor"), show: (row) => html`<span class="break">${given(row.actor)}</span>` },
        { title: t("what"), show: (row) => html`<span class="id" title=${row.action}>${act(row.action)}</span>` },
        {
          title: t("target"),
          show: (row) => {
            const page = PAGES_OF[row.action.split(".")[0]];
            const name = ID.test(row.target) ? named(row.target) : row.target;
            return page && ID.test(row.target)
              ? html`<a class="break" title=${row.target} href=${href(`operator/${page}/${row.target}`)}>${name}</a>`
              : html`<span class="break" title=${row.target}>${name}</span>`;
          },
        },
        { title: t("detail"), show: (row) => row.detail && html`<span class="break" dir="auto">${row.detail}</span>` },
      ])
    } />`;
}
