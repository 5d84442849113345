// What the keyboard can do.
import { html } from "../lib.js";
import { t } from "../words.js";
import { Dialog } from "./dialog.js";

const KEYS = [
  ["Ctrl K", "keyFind"], ["c", "keyCreate"], ["g l", "keyLibrary"], ["g a", "keyAccount"], ["g o", "keyOverview"], ["g b", "keyBackends"], ["g m", "keyModels"],
  ["j  k  ← →", "keyThrough"], ["Enter", "keyOpen"], ["x", "keyMark"], ["Esc", "keyClose"], ["Ctrl Enter", "keyMake"], ["?", "keyThis"],
];

export const Keyboard = ({ close }) => html`
  <${Dialog} close=${close} label=${t("keyboard")}>
    <h2>${t("keyboard")}</h2>
    <dl class="keys">${KEYS.map(([key, what]) => html`<dt>${key.split("  ").map((one) => html`<kbd>${one}</kbd> `)}</dt><dd>${t(what)}</dd>`)}</dl>
    <div class="row"><span class="space"></span><button class="button quiet" onClick=${close}>${t("close")}</button></div>
  <//>`;
