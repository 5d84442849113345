// Bars and lines drawn by hand; the table behind each is for those who cannot see it.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { count } from "../show.js";

const WIDTH = 640;
const HEIGHT = 120;

/** @param {{ values: Bar[], title: string, show: (value: number) => string }} given */
const Behind = ({ values, title, show }) => html`<table class="visually-hidden"><caption>${title}</caption>
  <tbody>${values.map((one) => html`<tr><th scope="row">${one.name}</th><td>${show(one.value)}</td></tr>`)}</tbody>
    </table>`;

/**
 * Bars over days. Whoever points at one, or goes through them by arrow keys, reads what it stands for; a line in the
 * middle says how high half is.
 * @param {{ values: Bar[], title: string, show?: (value: number) => string }} given
 */
export function Bars({ values, title, show = count }) {
  const [at, setAt] = useState(-1);
  const most = Math.max(1, ...values.map((one) => one.value));
  const wide = WIDTH / Math.max(values.length, 1);
  const last = values.length - 1;
  const point = (/** @type {On} */ event) => {
    const box = event.currentTarget.getBoundingClientRect();
    setAt(Math.min(last, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * values.length))));
  };
  const press = (/** @type {On} */ event) => {
    const to = { ArrowLeft: at < 0 ? last : at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setAt(Math.min(last, Math.max(0, to)));
  };
  const said = values[at];
  const half = HEIGHT - (HEIGHT - 8) / 2;
  return html`<figure class="chart"><p class="chart-most dim"><output class="chart-said">
      ${said ? `${said.name}: ${show(said.value)}` : ""}</output><span aria-hidden="true">${show(most)}</span></p>
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" tabindex="0" aria-label=${`${title}. ${t("chartKeys")}`}
      preserveAspectRatio="none" onPointerMove=${point} onPointerLeave=${() => setAt(-1)} onKeyDown=${press}
      onBlur=${() => setAt(-1)}>
      <path class="ground" d=${`M0 ${HEIGHT - 0.5}H${WIDTH}M0 ${half}H${WIDTH}M0 8H${WIDTH}`}
        vector-effect="non-scaling-stroke" />
      ${values.map((one, place) => {
        const tall = Math.max(one.value ? 3 : 0, (one.value / most) * (HEIGHT - 8));
        return html`<g class=${`bar-of${place === at ? " at" : ""}`}>
          <rect class="catch" x=${place * wide} y="0" width=${wide} height=${HEIGHT}></rect>
          <rect x=${place * wide + 1.5} y=${HEIGHT - tall} width=${Math.max(wide - 3, 1)} height=${tall} rx="2"></rect>
            </g>`;
      })}
    </svg>
    <figcaption class="dim"><span>${values[0]?.name || ""}</span>
      ${values.length > 4 && html`<span>${values[Math.floor(last / 2)].name}</span>`}
      <span>${values.at(-1)?.name || ""}</span></figcaption>
    <${Behind} values=${values} title=${title} show=${show} />
  </figure>`;
}

/**
 * A thin line of one figure over time, without axes: whether it rises is all it tells.
 * @param {{ values: Bar[], title: string, show?: (value: number) => string, kind?: string }} given
 */
export function Line({ values, title, show = count, kind = "" }) {
  const known = values.map((one) => one.value).filter((value) => value !== null && value !== undefined);
  const most = Math.max(1e-9, ...known);
  const step = WIDTH / Math.max(values.length - 1, 1);
  let path = "";
  values.forEach((one, place) => {
    const value = one.value ?? 0;
    path += `${place ? "L" : "M"}${(place * step).toFixed(1)} ${(HEIGHT - 6 - (value / most) * (HEIGHT - 12)).toFixed(
      1,
    )}`;
  });
  return html`<figure class=${`line ${kind}`}>
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${title} preserveAspectRatio="none">
      <path d=${path} vector-effect="non-scaling-stroke" /></svg>
    <${Behind} values=${values} title=${title} show=${show} />
  </figure>`;
}

/**
 * Shares of a whole, one bar a line.
 * @param {{ rows: Bar[], title: string, show?: (value: number) => string }} given
 */
export const Shares = ({ rows, title, show = count }) => {
  const most = Math.max(1e-9, ...rows.map((row) => row.value));
  return html`<ul class="shares" aria-label=${title}>
    ${rows.map(
      (row) => html`<li key=${row.name}><span class="share-name">${row.name}</span>
    <progress max=${most} value=${row.value} aria-label=${`${row.name}: ${show(row.value)}`}></progress>
      <span class="number">${show(row.value)}${row.text ? html`<small class="dim"> ${row.text}</small>` : ""}</span>
        </li>`,
    )}</ul>`;
};
