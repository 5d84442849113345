// What was used: by day as bars; by family, key, model, operation or a tag as shares.
import { html, useEffect, useState } from "../../lib.js";
import { given, local, many, t } from "../../words.js";
import { count, dayName, label, quotaOf } from "../../show.js";
import { get } from "../../api.js";
import { catalogue } from "../../catalogue.js";
import { go } from "../../route.js";
import { Bars, Shares } from "../../parts/chart.js";
import { DateRange, daysOf, rangeOf } from "../../parts/date_range.js";

/**
 * Every day of the span, also those on which nothing happened.
 * @param {Wire.DayUsage[]} byDay @param {"quota" | "jobs"} what @param {Span} range
 */
function everyDay(byDay, what, range) {
  const found = new Map(byDay.map((one) => [one.day, Number(one[what])]));
  return daysOf(range).map((day) => ({ name: dayName(day), value: found.get(day) || 0 }));
}

/**
 * What the service is asked for: the span goes behind what is asked already.
 * @param {string} base @param {Span} range
 */
const asking = (base, range) => `${base}${base.includes("?") ? "" : "?"}${range.asked}`.replace("?&", "?");

const KINDS = ["key", "member", "model", "operation", "tag"];

/**
 * What was used by keys, models, operations or what a tag says.
 * @param {{ what: "quota" | "jobs", path: string }} given
 */
function Groups({ what, path }) {
  const [by, setBy] = useState("key");
  const [tag, setTag] = useState("");
  const [groups, setGroups] = useState(/** @type {Wire.GroupUsage[] | null} */ (null));
  const [problem, setProblem] = useState("");
  const asked = by === "tag" ? tag && `tag:${tag}` : by;
  useEffect(() => {
    if (!asked) return setGroups([]);
    setProblem("");
    get(`${path}&by=${encodeURIComponent(asked)}`).then(
      ({ data }) => setGroups(data.groups),
      (error) => setProblem(error.message),
    );
  }, [asked, path]);
  const rows = (groups || []).map((row) => ({
    name: given(row.name || "") || t("unnamed"),
    value: Number(row[what]),
    text: what === "quota" ? many(row.jobs, "jobOne", "jobMany", count(row.jobs)) : quotaOf(row.quota),
  }));
  return html`<section class="card"><header><h2>${t("whoSpent")}</h2>
      <div class="chips" role="group" aria-label=${t("whoSpent")}>
        ${KINDS.map(
          (one) => html`<button class=${`chip${one === by ? " active" : ""}`} aria-pressed=${one === by}
            onClick=${() => setBy(one)}>${t(`by.${one}`)}</button>`,
        )}</div></header>
    ${
      by === "tag" &&
      html`<div class="field"><label for="usage-tag">${t("tagName")}</label>
        <input id="usage-tag" value=${tag} placeholder="project"
          onChange=${(event) => setTag(event.target.value.trim())} /></div>`
    }
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      rows.length
        ? html`<${Shares} rows=${rows} title=${t("whoSpent")} />`
        : html`<p class="empty small">${t("nothingUsed")}</p>`
    }</section>`;
}

/**
 * `base` is where it is asked for; without a span of its own the page has one in its address.
 * @param {{ base?: string, range?: Span | null, route?: Route | null }} given
 */
export function Usage({ base = "/account/v1/usage", range = null, route = null }) {
  const span = range || rangeOf(route?.query || {});
  const path = asking(base, span);
  const [usage, setUsage] = useState(/** @type {Wire.Usage | null} */ (null));
  const [what, setWhat] = useState(/** @type {"quota" | "jobs"} */ ("quota"));
  const [problem, setProblem] = useState("");
  const [all, setAll] = useState(/** @type {All | null} */ (null));
  useEffect(() => {
    catalogue().then(setAll, () => {});
  }, []);
  const title = (/** @type {string} */ family) =>
    local(all?.operations.find((one) => one.name.startsWith(`${family.replace(/_/g, ".")}.`))?.family || label(family));
  useEffect(() => {
    get(path).then(
      ({ data }) => {
        setUsage(data);
        setProblem("");
      },
      (error) => setProblem(error.message),
    );
  }, [path]);
  if (problem) return html`<p class="problem" role="alert">${problem}</p>`;
  if (!usage) return html`<section class="card waiting" aria-busy="true"></section>`;
  const rows = usage.byFamily.map((row) => ({
    name: title(row.family),
    value: Number(what === "quota" ? row.quota : row.jobs),
    text: what === "quota" ? many(row.jobs, "jobOne", "jobMany", count(row.jobs)) : quotaOf(row.quota),
  }));
  const heading = span.days > 0 ? t("lastDays", span.days) : t("spanOf", dayName(span.from), dayName(span.to));
  return html`${
    !range &&
    html`<${DateRange} range=${span}
      change=${(more) => go("account", { ...route?.query, ...more }, { replace: true })} />`
  }
    <section class="card">
    <header><div><h2>${heading}</h2><p class="large">
      ${count(usage.quota)} <small class="dim">
        ${t("quotaIn")} ${many(usage.jobs, "jobOne", "jobMany", count(usage.jobs))}</small></p></div>
      <div class="chips" role="group" aria-label=${t("measure")}>
        ${
          /** @type {const} */ (["quota", "jobs"]).map(
            (one) => html`<button class=${`chip${one === what ? " active" : ""}`} aria-pressed=${one === what}
            onClick=${() => setWhat(one)}>${t(one === "quota" ? "Quota" : "jobs")}</button>`,
          )
        }</div></header>
    <${Bars} values=${everyDay(usage.byDay, what, span)}
      title=${`${t(what === "quota" ? "Quota" : "jobs")}, ${t("byDay")}`} /></section>
    <section class="card"><h2>${t("byFamily")}</h2>
      ${
        rows.length
          ? html`<${Shares} rows=${rows} title=${t("byFamily")} />`
          : html`<p class="empty small">${t("nothingUsed")}</p>`
      }</section>
    <${Groups} what=${what} path=${path} />`;
}
