// How well a back end or a worker account is: a dot with a word for those who do not see its colour.
import { html } from "../lib.js";
import { t } from "../words.js";

const RESTING = ["cooling", "draining", "paused", "off", "open", "failed"];

function kindOf({ condition, usable }) {
  if (["alone", "untried"].includes(condition)) return "none";
  if (condition === "well") return usable === false ? "bad" : "ok";
  return RESTING.includes(condition) || usable !== false ? "warn" : "bad";
}

export const Condition = ({ row }) => html`<span class=${`dot ${kindOf(row)}`} title=${t(`condition.${row.condition}`)}>
  <span class="visually-hidden">${t(`condition.${row.condition}`)}</span></span>`;

/** What is known of it by a job or a test: nothing yet, that it fails, or that it works. */
function tried(row) {
  const [latest] = row.health?.recent || [];
  if (latest) return latest.outcome === "good" ? "well" : "failed";
  return row.health?.balance || row.average_execute ? "well" : "untried";
}

/** The condition of a worker account: what its owner says, then what its vendor says. */
export function workerCondition(row) {
  const usable = row.state === "active" && row.usable !== false;
  if (row.state && row.state !== "active") return { condition: row.state, usable };
  const condition = row.health?.condition || "well";
  return { condition: condition === "well" ? tried(row) : condition, usable };
}

/** The condition of a back end: that of the best of its worker accounts; without any, nothing is sent to it. */
export function backendCondition(row) {
  if (row.enabled === false) return { condition: "off", usable: false };
  if (row.health) return { condition: row.health.condition || "well", usable: true };
  if (!row.accounts.length) return { condition: "alone", usable: false };
  const all = row.accounts.map(workerCondition);
  return all.find((one) => one.condition === "well" && one.usable) 
    || all.find((one) => one.condition === "untried") || all[0];
}
