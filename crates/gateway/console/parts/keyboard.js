// What the keyboard can do.
import { html } from "../lib.js";
import { t } from "../words.js";
import { Dialog } from "./dialog.js";

/** Each with whom it is for: nobody is told of what others can do. */
const KEYS = [
  ["Ctrl K", "keyFind"],
  ["c", "keyCreate", "maker"],
  ["g l", "keyLibrary", "account"],
  ["g a", "keyAccount", "account"],
  ["g o", "keyOverview", "operator"],
  ["g j", "keyJobs", "operator"],
  ["g b", "keyBackends", "operator"],
  ["g m", "keyModels", "operator"],
  ["j  k  ← →", "keyThrough", "account"],
  ["Enter", "keyOpen"],
  ["x", "keyMark", "account"],
  ["Shift x  Shift →", "keyMarkMore", "account"],
  ["Esc", "keyClose"],
  ["Ctrl Enter", "keyMake", "maker"],
  ["?", "keyThis"],
];

/** @param {{ who: Who, close: () => void }} given */
export function Keyboard({ who, close }) {
  /** @type {Record<string, unknown>} */
  const can = { maker: who.account && !who.looking, account: who.account, operator: who.operator && !who.looking };
  return html`<${Dialog} close=${close} label=${t("keyboard")}>
    <h2>${t("keyboard")}</h2>
    <dl class="keys">${KEYS.filter(([, , whose]) => !whose || can[whose]).map(
      ([key, what]) => html`
      <dt>${key.split("  ").map((one) => html`<kbd>${one}</kbd> `)}</dt><dd>${t(what)}</dd>`,
    )}</dl>
    <div class="row"><span class="space"></span><button class="button quiet" onClick=${close}>${t("close")}</button>
      </div>
  <//>`;
}
