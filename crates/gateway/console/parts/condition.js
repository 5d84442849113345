// How well a back end or a worker account is: a dot with a word for those who do not see its colour.
import { html } from "../lib.js";
import { t } from "../words.js";

const RESTING = ["cooling", "draining", "paused", "off", "open", "failed"];

/** @param {{ condition: string, usable?: boolean }} given */
function kindOf({ condition, usable }) {
  if (["no_account", "untested"].includes(condition)) return "none";
  if (condition === "well") return usable === false ? "bad" : "ok";
  return RESTING.includes(condition) || usable !== false ? "warn" : "bad";
}

/** @param {{ row: State }} given */
export const Condition = ({ row }) => html`<span class=${`dot ${kindOf(row)}`} title=${t(`condition.${row.condition}`)}>
  <span class="visually-hidden">${t(`condition.${row.condition}`)}</span></span>`;

/**
 * What is known of one that is well by its latest job or test: that it failed, or that it works.
 * @param {{ health?: Wire.Health | null }} row
 */
function tried(row) {
  const [latest] = row.health?.recent || [];
  return latest && latest.outcome !== "good" ? "failed" : "well";
}

/**
 * The condition of a worker account: what its owner says, then what its vendor says.
 * @param {Wire.Worker | Wire.OwnWorker} row
 */
export function workerCondition(row) {
  const usable = row.state === "active" && row.usable !== false;
  if (row.state && row.state !== "active") return { condition: row.state, usable };
  const condition = row.health?.condition || "well";
  return { condition: condition === "well" ? tried(row) : condition, usable };
}

/**
 * The condition of a back end: that of the best of its worker accounts; without any, nothing is sent to it.
 * @param {Wire.Backend} row
 */
export function backendCondition(row) {
  if (row.enabled === false) return { condition: "off", usable: false };
  if (!row.accounts?.length && row.health)
    return { condition: row.health.condition || "well", usable: row.health.condition !== "no_account" };
  if (!row.accounts?.length) return { condition: "no_account", usable: false };
  const all = row.accounts.map(workerCondition);
  return (
    all.find((one) => one.condition === "well" && one.usable) ||
    all.find((one) => one.condition === "untested") ||
    all[0]
  );
}
