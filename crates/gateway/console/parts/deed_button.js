// A button that does something with a result: what it is called, what it costs, and whether that can be paid.
import { html } from "../lib.js";
import { t } from "../words.js";
import { count, quotaOf } from "../show.js";

/** @param {{ deed: Deed, price?: number, balance?: number | null, kind?: string, label?: string }} given */
export function DeedButton({ deed, price = undefined, balance = null, kind = "button quiet", label = "" }) {
  const short = price !== undefined && balance !== null && price > balance;
  const [cost, lack] = [price === undefined ? "" : quotaOf(price), short ? t("tooLittle") : ""];
  const title = [deed.title || deed.text, cost, lack].filter(Boolean).join(" · ");
  const more = [cost, lack].filter(Boolean).join(" · ");
  return html`<button type="button" class=${kind} disabled=${short} title=${title}
    aria-label=${label ? title : undefined}
    onClick=${deed.go}>${label || deed.text}
      ${
        cost && !label
          ? html`<small class="deed-price" aria-hidden="true">${count(price)}</small>
    <span class="visually-hidden">, ${more}</span>`
          : ""
      }</button>`;
}
