// One back end: how it has been, what it made and took, which models lead to it, what went wrong, and its latest jobs.
import { html, useEffect, useState } from "../../lib.js";
import { t } from "../../words.js";
import { clockAt, count, deed, label, percent, said, state, took, when, words } from "../../show.js";
import { get } from "../../api.js";
import { href } from "../../route.js";
import { Condition, backendCondition, workerCondition } from "../../parts/condition.js";
import { Table, Time } from "../../parts/table.js";

const EVERY_MS = 5000;
/** Among so many of the latest jobs of everybody those of the back end are looked for. */
const JOBS = 100;
const MOST_ERRORS = 20;

/** @param {{ title: string, value: Hole, text: string }} given */
const Figure = ({ title, value, text }) => html`<div class="card figure"><p class="dim">${title}</p>
  <p class="large">${value}</p><p class="dim">${text}</p></div>`;

/** @param {number} usd */
const dollars = (usd) => `${count(Math.round(usd * 100) / 100)} USD`;

/** The health of a back end and of its worker accounts, each with its name. @param {Wire.Backend} row */
const partsOf = (row) => [
  ...(row.health ? [{ name: row.name, health: row.health }] : []),
  ...(row.accounts || []).map((one) => ({ name: one.name, health: one.health, row: one })),
];

/**
 * The latest outcomes as marks from the oldest to the newest; what each was is read by whoever points at it.
 * @param {{ health: Wire.Health | null | undefined, name: string }} given
 */
const Outcomes = ({ health, name }) => {
  const recent = [...(health?.recent || [])].reverse();
  if (!recent.length) return html`<span class="dim">${t("noneYet")}</span>`;
  const text = (/** @type {Wire.Outcome} */ one) =>
    `${clockAt(one.at_ms)}: ${one.outcome === "good" ? t("done") : t(`fault.${one.outcome}`)}${
      one.detail ? `, ${said(one.detail)}` : ""
    }`;
  const good = recent.filter((one) => one.outcome === "good").length;
  return html`<span class="outcomes" role="img" aria-label=${`${name}: ${t("succeed", percent(good, recent.length))}`}>
    ${recent.map((one) => html`<i class=${one.outcome === "good" ? "ok" : "bad"} title=${text(one)}></i>`)}</span>`;
};

/** @param {{ row: Wire.Backend }} given */
const Health = ({ row }) => html`<section class="card flush"><header class="inner"><h2>${t("health")}</h2></header>
  <${Table} caption=${t("health")} rows=${partsOf(row)} columns=${
    /** @type {Column<Part>[]} */ ([
      {
        title: t("name"),
        show: (one) =>
          html`<${Condition} row=${one.row ? workerCondition(one.row) : backendCondition(row)} />${one.name}`,
      },
      {
        title: t("condition"),
        show: (one) => t(`condition.${(one.row ? workerCondition(one.row) : backendCondition(row)).condition}`),
      },
      { title: t("latestOutcomes"), show: (one) => html`<${Outcomes} health=${one.health} name=${one.name} />` },
      {
        title: t("busy"),
        show: (one) => (one.row ? t("ofAll", one.row.busy ?? 0, one.row.concurrency) : t("ofAll", row.busy, row.slots)),
      },
      {
        title: t("vendorTook"),
        show: (one) =>
          (one.row?.costs || []).map((sum) => `${count(sum.amount)} ${sum.currency}`).join(", ") ||
          html`<span class="dim">${t("notSaid")}</span>`,
      },
      {
        title: t("balance"),
        show: (one) =>
          one.health?.balance
            ? html`<span title=${clockAt(one.health.balance.at_ms)}>${count(one.health.balance.amount)}
            ${one.health.balance.currency}</span>`
            : "–",
      },
    ])
  } /></section>`;

/** @param {{ row: Wire.Backend }} given */
const Faults = ({ row }) => {
  const faults = partsOf(row)
    .flatMap(({ name, health }) => (health?.last_errors || []).map((one) => ({ ...one, name })))
    .sort((a, b) => b.at_ms - a.at_ms)
    .slice(0, MOST_ERRORS);
  return html`<section class="card flush"><header class="inner"><h2>${t("lastFaults")}</h2></header>
    <${Table} caption=${t("lastFaults")} rows=${faults} empty=${t("noFaults")} columns=${
      /** @type {Column<Fault>[]} */ ([
        { title: t("when"), show: (one) => html`<time>${clockAt(one.at_ms)}</time>` },
        { title: t("name"), show: (one) => one.name },
        { title: t("what"), show: (one) => html`<b>${t(`fault.${one.outcome}`)}</b>` },
        { title: t("detail"), show: (one) => html`<span class="break" dir="auto">${said(one.detail) || "–"}</span>` },
      ])
    } /></section>`;
};

/** @param {{ rows: Wire.Margin[] }} given */
const Margins = ({ rows }) => html`<section class="card flush"><header class="inner"><h2>${t("margin")}</h2>
    <span class="dim">${t("lastDays", 30)}</span></header>
  <${Table} caption=${t("margins")} rows=${rows} empty=${t("noMargins")} columns=${
    /** @type {Column<Wire.Margin>[]} */ ([
      { title: t("what"), show: (one) => one.model || label(one.family) },
      { title: t("jobs"), number: true, show: (one) => count(one.jobs) },
      { title: t("callersPaid"), number: true, show: (one) => count(one.quota) },
      {
        title: t("vendorTook"),
        number: true,
        show: (one) => ((one.cost ?? null) === null ? t("notSaid") : `${count(one.cost)} ${one.currency || ""}`),
      },
      {
        title: t("margin"),
        number: true,
        show: (one) =>
          one.marginUsd === null || one.marginUsd === undefined
            ? "–"
            : html`<span class=${one.marginUsd < 0 ? "bad" : ""}>${one.marginUsd < 0 ? "−" : "+"}
            ${dollars(Math.abs(one.marginUsd))}</span>`,
      },
    ])
  } /></section>`;

/** @param {{ rows: Wire.SoldModel[] }} given */
const Routes = ({ rows }) => html`<section class="card flush"><header class="inner"><h2>${t("routes")}</h2></header>
  <${Table} caption=${t("routes")} rows=${rows} empty=${t("noRoutes")} columns=${
    /** @type {Column<Lead>[]} */ ([
      {
        title: t("model"),
        show: (one) => html`<a href=${href("operator/models", { model: one.name })}>${one.name}</a>`,
      },
      { title: t("mapModel"), show: (one) => html`<span class="code break">${one.route.model || "–"}</span>` },
      { title: t("routeRank"), number: true, show: (one) => one.route.rank ?? "–" },
      { title: t("routeWeight"), number: true, show: (one) => one.route.weight ?? 1 },
    ])
  } /></section>`;

/** @param {{ rows: Wire.ServedJob[] }} given */
const Jobs = ({ rows }) => html`<section class="card flush"><header class="inner"><h2>${t("jobs")}</h2>
    <span class="dim">${t("amongLatest", JOBS)}</span></header>
  <${Table} caption=${t("jobs")} rows=${rows} empty=${t("noJobs")} columns=${
    /** @type {Column<Wire.ServedJob>[]} */ ([
      { title: t("when"), show: (one) => html`<${Time} at=${one.createdAt} />` },
      {
        title: t("what"),
        show: (one) => html`<a class="words clamp" href=${href(`job/${one.jobId}`)}>${words(one)}</a>
        <span class="dim block">${deed(one.operation)}</span>`,
      },
      {
        title: t("status"),
        show: (one) =>
          html`<span class=${`tag ${{ SUCCESS: "delivered", FAILED: "exhausted" }[one.status] || "due"}`}>
          ${state(one)}</span>`,
      },
      { title: t("Quota"), number: true, show: (one) => count(one.quota) },
    ])
  } /></section>`;

/** @param {any[]} rows @param {string} name */
const sum = (rows, name) => rows.reduce((all, one) => all + Number(one[name] || 0), 0);

/**
 * How jobs went in the last hour, by the back end's own row or those of its worker accounts.
 * @param {Wire.Overview} view @param {Wire.Backend} row
 */
function hourOf(view, row) {
  const own = view.makers.filter((one) => one.name === row.name || one.name.startsWith(`${row.name}/`));
  const jobs = sum(own, "jobs");
  return { jobs, failed: sum(own, "failed"), p50: own.find((one) => (one.p50Ms ?? null) !== null)?.p50Ms ?? null };
}

/** @param {{ route: Route }} given */
export function BackendPage({ route }) {
  const id = route.rest[1];
  const [seen, setSeen] = useState(/** @type {Seen | null} */ (null));
  const [models, setModels] = useState(/** @type {Wire.SoldModel[]} */ ([]));
  const [problem, setProblem] = useState("");
  useEffect(() => {
    setSeen(null);
    let gone = false;
    const read = async () => {
      try {
        const [row, stats, view, jobs] = await Promise.all([
          get(`/admin/v1/backends/${encodeURIComponent(id)}`),
          get("/admin/v1/stats"),
          get("/admin/v1/overview"),
          get(`/admin/v1/jobs?limit=${JOBS}`),
        ]);
        if (!gone) setSeen({ row: row.data, stats: stats.data, view: view.data, jobs: jobs.data });
      } catch (error) {
        if (!gone) setProblem(/** @type {Error} */ (error).message);
      }
    };
    read();
    const timer = setInterval(read, EVERY_MS);
    get("/admin/v1/models").then(
      ({ data }) => setModels(data),
      () => {},
    );
    return () => {
      gone = true;
      clearInterval(timer);
    };
  }, [id]);
  useEffect(() => {
    if (seen) document.title = `${seen.row.name} · Atelier`;
  }, [seen?.row.name]);
  if (problem && !seen)
    return html`<div class="empty"><p class="empty-title">${problem}</p>
    <p><a class="button" href=${href("operator/backends")}>${t("backends")}</a></p></div>`;
  if (!seen) return html`<section class="card waiting" aria-busy="true"></section>`;
  const { row, stats, view } = seen;
  const condition = backendCondition(row);
  const hour = hourOf(view, row);
  const margins = stats.margins.filter((one) => one.backend === row.name);
  const earned = margins.filter((one) => (one.marginUsd ?? null) !== null);
  const leads = models.flatMap((one) =>
    (one.routes || [])
      .filter((way) => way.backend === row.name || way.backend === row.id)
      .map((way) => ({ name: one.name, route: way })),
  );
  const jobs = seen.jobs.filter((one) => one.backend === row.id || one.backend === row.name);
  const serves = row.operations.length ? row.operations.join(", ") : t("everything");
  return html`<p class="crumbs"><a href=${href("operator/backends")}>${t("backends")}</a></p>
    <header class="head"><div><h1 class="break"><${Condition} row=${condition} />${row.name}</h1>
      <p class="dim break">${[
        row.vendor === row.name ? "" : row.vendor,
        row.base_url || t("inside"),
        serves,
        t("rank", row.rank),
        row.created_at ? `${t("since")} ${when(row.created_at)}` : "",
      ]
        .filter(Boolean)
        .join(" · ")}</p></div>
      <a class="button quiet" href=${href("operator/backends", { q: row.name })}>${t("settings")}</a></header>
    <div class="figures">
      <${Figure} title=${t("condition")} value=${t(`condition.${condition.condition}`)}
        text=${t("ofAll", row.busy, row.slots)} />
      <${Figure} title=${t("successHour")} value=${percent(hour.jobs - hour.failed, hour.jobs)}
        text=${t("jobsThisHour", count(hour.jobs))} />
      <${Figure} title=${t("halfTook")} value=${hour.p50 === null ? "–" : took(hour.p50)} text=${t("lastHour")} />
      <${Figure} title=${t("margin")} value=${earned.length ? dollars(sum(earned, "marginUsd")) : "–"}
        text=${t("lastDays", 30)} /></div>
    <${Health} row=${row} />
    <div class="columns"><${Margins} rows=${margins} /><${Routes} rows=${leads} /></div>
    <${Faults} row=${row} />
    <${Jobs} rows=${jobs} />`;
}
