// A span of days: the last week, month or quarter, or from one day to another. It lives in the address.
import { html } from "../lib.js";
import { t } from "../words.js";

const DAY_MS = 86_400_000;
const SPANS = [7, 30, 90];
/** So many days are drawn at most. */
const MOST_DAYS = 366;

/** @param {number} ms */
const dayAt = (ms) => new Date(ms).toISOString().slice(0, 10);
/** @param {string} day @param {number} by */
const shifted = (day, by) => dayAt(Date.parse(`${day}T00:00:00Z`) + by * DAY_MS);
/** @param {string | undefined} text */
const isDay = (text) => /^\d{4}-\d{2}-\d{2}$/.test(text || "") && !Number.isNaN(Date.parse(text || ""));

/**
 * What an address says: the first and the last day in UTC, and `asked`, how the service is asked for it. `usual` is how
 * many days there are when it says nothing; none are all that ever was.
 * @param {Record<string, string>} query
 */
export function rangeOf(query, usual = 30) {
  const today = dayAt(Date.now());
  if (isDay(query.from) || isDay(query.to)) {
    const to = isDay(query.to) ? query.to : today;
    const from = isDay(query.from) && query.from <= to ? query.from : shifted(to, 1 - (usual || 30));
    return { days: -1, from, to, asked: `&from=${from}&to=${shifted(to, 1)}` };
  }
  const days = SPANS.includes(Number(query.days)) ? Number(query.days) : usual;
  if (!days) return { days, from: "", to: today, asked: "" };
  const from = shifted(today, 1 - days);
  return { days, from, to: today, asked: `&from=${from}` };
}

/** Every day of a span. @param {{ from: string, to: string }} given */
export function daysOf({ from, to }) {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  const shown = Math.min(count, MOST_DAYS);
  return Array.from({ length: shown }, (_, place) => shifted(to, place - shown + 1));
}

/**
 * `change` gets what is to be different in the address.
 * @param {{ range: Span, change: (more: { days: number | string; from: string; to: string }) => void,
 * usual?: number }} given
 */
export const DateRange = ({ range, change, usual = 30 }) => {
  const typed = (/** @type {string} */ name) => (/** @type {On} */ event) => {
    if (isDay(event.target.value)) change({ days: "", from: range.from, to: range.to, [name]: event.target.value });
  };
  const spans = usual ? SPANS : [...SPANS, 0];
  const picked = (/** @type {number} */ days) => change({ from: "", to: "", days: days === usual ? "" : days });
  return html`<div class="row date-range" role="group" aria-label=${t("span")}>
    <div class="chips">${spans.map(
      (days) => html`<button type="button" class=${`chip${days === range.days ? " active" : ""}`}
        aria-pressed=${days === range.days} onClick=${() => picked(days)}>
          ${days ? t("daysShort", days) : t("all")}</button>`,
    )}</div>
    <label class="inline">${t("spanFrom")}
      <input type="date" value=${range.from} max=${range.to} onChange=${typed("from")} /></label>
    <label class="inline">${t("spanTo")}
      <input type="date" value=${range.to} min=${range.from} max=${dayAt(Date.now())} onChange=${typed("to")} /></label>
  </div>`;
};
