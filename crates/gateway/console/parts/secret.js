// Something that is shown this once: a key, a token.
import { html } from "../lib.js";
import { t } from "../words.js";
import { Copy } from "./copy.js";
import { Dialog } from "./dialog.js";

/** @param {{ title: string, value: string, close: () => void }} given */
export const Secret = ({ title, value, close }) => html`<${Dialog} close=${close} label=${title}>
  <h2>${title}</h2><p class="dim">${t("shownOnce")}</p><pre class="secret" tabindex="0"><code>${value}</code></pre>
  <div class="row"><span class="space"></span><${Copy} text=${value} />
    <button class="button" onClick=${close}>${t("finish")}</button></div><//>`;
