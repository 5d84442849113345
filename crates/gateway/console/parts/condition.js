// How well a worker account is: a dot with a word for those who do not see its colour.
import { html } from "../lib.js";
import { t } from "../words.js";

export const Condition = ({ row }) => {
  const kind = row.condition === "well" && row.usable !== false ? "ok" : ["cooling", "draining", "paused", "off", "open"].includes(row.condition) ? "warn" : row.usable === false ? "bad" : "warn";
  return html`<span class=${`dot ${kind}`} title=${t(`condition.${row.condition}`)}><span class="visually-hidden">${t(`condition.${row.condition}`)}</span></span>`;
};
