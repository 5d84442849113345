// Bars over days, drawn by hand; the table behind them is for those who cannot see them.
import { html } from "../lib.js";
import { count } from "../show.js";

const WIDTH = 640;
const HEIGHT = 120;

export function Bars({ values, title }) {
  const most = Math.max(1, ...values.map((one) => one.value));
  const wide = WIDTH / Math.max(values.length, 1);
  return html`<figure class="chart">
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${title} preserveAspectRatio="none">
      ${values.map((one, place) => {
        const tall = Math.max(one.value ? 2 : 0, (one.value / most) * (HEIGHT - 8));
        return html`<rect x=${place * wide + 1} y=${HEIGHT - tall} width=${Math.max(wide - 2, 1)} height=${tall} rx="2"><title>${one.name}: ${count(one.value)}</title></rect>`;
      })}
    </svg>
    <figcaption class="dim"><span>${values[0]?.name || ""}</span><span>${values.at(-1)?.name || ""}</span></figcaption>
    <table class="visually-hidden"><caption>${title}</caption><tbody>${values.map((one) => html`<tr><th scope="row">${one.name}</th><td>${one.value}</td></tr>`)}</tbody></table>
  </figure>`;
}
