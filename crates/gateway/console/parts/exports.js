// Exports: every row of a kind as a file, which the browser takes as it comes.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { DateRange, rangeOf } from "./date_range.js";

const KINDS = ["jobs", "ledger", "usage"];
const FORMATS = ["csv", "jsonl"];

/**
 * `base` is where they are; an archive of everything is there for one account alone.
 * @param {{ base: string, archive?: string, text: string }} given
 */
export function Exports({ base, archive = "", text }) {
  const [asked, setAsked] = useState(/** @type {Record<string, string>} */ ({}));
  const span = rangeOf(asked, 0);
  return html`<section class="card"><h2>${t("exports")}</h2><p class="dim">${text}</p>
    <${DateRange} range=${span} usual=${0} change=${(more) =>
      setAsked(Object.fromEntries(Object.entries(more).map(([name, value]) => [name, `${value}`])))} />
    <dl class="facts takes">${KINDS.map(
      (kind) =>
        html`<dt>${t(kind)}</dt><dd class="row">${FORMATS.map(
          (format) => html`<a class="button quiet" href=${`${base}/${kind}?format=${format}${span.asked}`} download>
          ${t(`format.${format}`)}</a>`,
        )}</dd>`,
    )}
    ${
      archive &&
      html`<dt>${t("everythingAbout")}</dt><dd class="row">
        <a class="button quiet" href=${archive} download>ZIP</a></dd>`
    }</dl></section>`;
}
