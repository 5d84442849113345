// How well a worker account is: a dot with a word for those who do not see its colour.
import { html } from "../../lib.js";

export const Condition = ({ row }) => {
  const kind = row.condition === "well" && row.usable !== false ? "ok" : row.usable === false ? "bad" : "warn";
  return html`<span class=${`dot ${kind}`} title=${row.condition}><span class="visually-hidden">${row.condition}</span></span>`;
};
