// What the keyboard can do.
import { html } from "../lib.js";
import { t } from "../words.js";
import { Dialog } from "./dialog.js";

const KEYS = [
  ["Ctrl K", "find jobs, pages and actions"], ["c", "create"], ["g l", "library"], ["g a", "account"], ["g o", "operator's overview"],
  ["← →", "through results"], ["Enter", "open"], ["Esc", "close"], ["Ctrl Enter", "make it"], ["?", "this list"],
];

export const Keyboard = ({ close }) => html`
  <${Dialog} close=${close} label=${t("keyboard")}>
    <h2>${t("keyboard")}</h2>
    <dl class="keys">${KEYS.map(([key, meaning]) => html`<dt><kbd>${key}</kbd></dt><dd>${meaning}</dd>`)}</dl>
  <//>`;
