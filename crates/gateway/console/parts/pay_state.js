// The state of a payment as a tag: what is well is green, what waits yellow, what is lost red.
import { html } from "../lib.js";
import { t } from "../words.js";

/** @type {Record<string, string>} */
const LOOKS = { paid: "delivered", pending: "due", disputed: "due", mismatch: "exhausted", failed: "exhausted" };

/** @param {{ state: string }} given */
export const PayState = ({ state }) => html`<span class=${`tag ${LOOKS[state] || ""}`}>${t(`pay.${state}`)}</span>`;
