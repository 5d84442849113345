// The operator's lists: jobs of everybody, callbacks, what operators did.
import { html, useEffect, useState } from "../../lib.js";
import { local, many, t } from "../../words.js";
import { act, count, deed, isFinal, state, why, words } from "../../show.js";
import { post } from "../../api.js";
import { go, href } from "../../route.js";
import { catalogue } from "../../catalogue.js";
import { DateRange, rangeOf } from "../../parts/date_range.js";
import { useNames } from "../../parts/named.js";
import { Paged, Time, usePages } from "../../parts/table.js";

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

const SHOWN = { all: "", running: "&unfinished=true", done: "&status=success", failed: "&status=failed" };

/** What an operation is called by people. */
function useKinds() {
  const [all, setAll] = useState(null);
  useEffect(() => {
    catalogue().then(setAll, () => {});
  }, []);
  return (name) => {
    const one = all?.operations.find((operation) => operation.name === name);
    return one ? `${local(one.family)}, ${deed(name).toLowerCase()}` : name;
  };
}

export function Jobs({ who, route }) {
  const show = SHOWN[route.query.show] !== undefined ? route.query.show : "all";
  const text = route.query.q || "";
  const span = rangeOf(route.query, 0);
  const asked = text.trim() ? `&q=${encodeURIComponent(text.trim())}` : "";
  const pages = usePages(`/admin/v1/jobs?${`${SHOWN[show]}${asked}${span.asked}`.slice(1)}`, 25);
  const [problem, setProblem] = useState("");
  const named = useNames((pages.rows || []).flatMap((row) => [row.accountId, row.backend, row.worker]));
  const kinds = useKinds();
  const may = who.operator.role !== "viewer";
  const cancel = (row) =>
    post(`/admin/v1/jobs/${encodeURIComponent(row.jobId)}/cancel`).then(
      () => {
        setProblem("");
        pages.again();
      },
      (error) => setProblem(error.message),
    );
  const address = (one, q = text) => ({ ...route.query, show: one === "all" ? "" : one, q });
  const filters = html`<input type="search" class="filter" placeholder=${t("searchJobs")} aria-label=${t("searchJobs")}
    value=${text} onInput=${(event) => go("operator/jobs", address(show, event.target.value), { replace: true })} />
    <nav class="chips" aria-label=${t("filters")}>
      ${Object.keys(SHOWN).map(
        (one) => html`<a class=${`chip${one === show ? " active" : ""}`}
          aria-current=${one === show ? "true" : undefined} href=${href("operator/jobs", address(one))}>
            ${t(`show.${one}`)}</a>`,
      )}</nav>`;
  const spans = html`<${DateRange} range=${span} usual=${0}
    change=${(more) => go("operator/jobs", { ...route.query, ...more }, { replace: true })} />`;
  return html`${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <${List} title=${t("jobs")} below=${spans} unit=${["jobOne", "jobMany"]} pages=${pages} filters=${filters}
      empty=${text || show !== "all" ? t("nothingFound") : t("noJobs")} columns=${[
        { title: t("when"), show: (row) => html`<${Time} at=${row.createdAt} />` },
        {
          title: t("what"),
          show: (row) => html`<a class="words clamp" href=${href(`job/${row.jobId}`)}>${words(row)}</a>
      <span class="dim block" title=${row.operation}>${kinds(row.operation)}</span>`,
        },
        {
          title: t("account"),
          show: (row) => html`<a class="dim break" title=${row.accountId}
            href=${href(`operator/accounts/${row.accountId}`)}>${named(row.accountId)}</a>`,
        },
        {
          title: t("status"),
          show: (
            row,
          ) => html`<span class=${`tag ${{ SUCCESS: "delivered", FAILED: "exhausted" }[row.status] || "due"}`}>
        ${state(row)}${isFinal(row) ? "" : ` ${row.progress} %`}</span>
          ${row.status === "FAILED" ? html`<span class="dim block">${why(row.message)}</span>` : ""}`,
        },
        {
          title: t("backend"),
          show: (row) =>
            html`<span class="dim">${[row.backend, row.worker].filter(Boolean).map(named).join(" / ") || "–"}</span>`,
        },
        {
          title: t("Quota"),
          number: true,
          show: (row) =>
            isFinal(row) ? count(row.quota) : html`<span class="dim">${count(row.held)} ${t("held")}</span>`,
        },
        {
          title: "",
          show: (row) =>
            may &&
            !isFinal(row) &&
            html`<button class="button quiet danger" onClick=${() => cancel(row)}>${t("cancel")}</button>`,
        },
      ]} />`;
}

export function Callbacks() {
  const pages = usePages("/admin/v1/callbacks", 25);
  return html`<${List} title=${t("callbacks")} unit=${["callbackOne", "callbackMany"]} pages=${pages}
    empty=${t("noCallbacks")} columns=${[
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
      { title: t("nextTryAt"), show: (row) => html`<${Time} at=${row.nextAttemptAt} />` },
    ]} />`;
}

export function Audit() {
  const pages = usePages("/admin/v1/audit", 25);
  return html`<${List} title=${t("audit")} text=${t("auditText")} pages=${pages} columns=${[
    { title: t("when"), show: (row) => html`<${Time} at=${row.time} />` },
    { title: t("actor"), show: (row) => html`<span class="break">${row.actor}</span>` },
    { title: t("what"), show: (row) => html`<span class="id" title=${row.action}>${act(row.action)}</span>` },
    { title: t("target"), show: (row) => html`<span class="code id">${row.target}</span>` },
    { title: t("detail"), show: (row) => row.detail && html`<span class="break">${row.detail}</span>` },
  ]} />`;
}
