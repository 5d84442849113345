// Up to four pictures beside each other; or two, one over the other, with a slider between them.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { thumb, words } from "../show.js";
import { Dialog } from "./dialog.js";
import { Quarter } from "./quarter.js";

/** @param {{ items: Piece[], at: number, choose: (place: number) => void, label: string }} given */
const Strip = ({ items, at, choose, label }) => html`<div class="strip" role="group" aria-label=${label}>
  ${items.map(
    (item, place) => html`
  <button key=${item.key} class=${`thumb${place === at ? " active" : ""}`} aria-pressed=${place === at}
    aria-label=${`${label}: ${words(item.job)}`} onClick=${() => choose(place)}>
    ${
      item.quarter
        ? html`<span class=${`quarter q${item.quarter}`}><img src=${thumb(item.file)} alt="" /></span>`
        : html`<img src=${thumb(item.file)} alt="" />`
    }</button>`,
  )}</div>`;

/**
 * One side, of a grid its quarter.
 * @param {{ piece: Piece, kind: string, alt: string, style: Record<string, string> }} given
 */
const Side = ({ piece, kind, alt, style }) =>
  piece.quarter
    ? html`<${Quarter} key=${piece.key} file=${piece.file} quarter=${piece.quarter} kind=${kind} alt=${alt}
    style=${style} />`
    : html`<img class=${kind} src=${piece.file.url} alt=${alt} style=${style} />`;

/** Two, of more those that are chosen below. @param {{ items: Piece[], first: number, second: number }} given */
function Sliding({ items, first, second }) {
  const [left, setLeft] = useState(first);
  const [right, setRight] = useState(second);
  const [at, setAt] = useState(50);
  const [a, b] = [items[left], items[right]];
  return html`<div class="compare-board">
      <${Side} piece=${b} kind="under" alt=${`${t("right")}: ${words(b.job)}`} />
      <${Side} piece=${a} kind="over-it" alt=${`${t("left")}: ${words(a.job)}`} style=${{ "--at": `${at}%` }} />
      <span class="divider" style=${{ "--at": `${at}%` }} aria-hidden="true"></span>
      <input type="range" min="0" max="100" value=${at} aria-label=${t("compareSlide")}
        onInput=${(event) => setAt(Number(event.target.value))} />
    </div>
    <div class="compare-names"><p class="words">${words(a.job)}</p><p class="words">${words(b.job)}</p></div>
    ${
      items.length > 2 &&
      html`<div class="compare-names"><${Strip} items=${items} at=${left} choose=${setLeft} label=${t("left")} />
        <${Strip} items=${items} at=${right} choose=${setRight} label=${t("right")} /></div>`
    }`;
}

/** @param {{ items: Piece[] }} given */
const Beside = ({ items }) =>
  html`<div class="compare-beside">${items.map(
    (item) => html`<figure key=${item.key}><${Side} piece=${item} kind="beside" alt=${words(item.job)} />
    <figcaption class="words" dir="auto">${words(item.job)}</figcaption></figure>`,
  )}</div>`;

/**
 * `items` are pieces, pictures only: two to four.
 * @param {{ items: Piece[], first?: number, second?: number, close: () => void }} given
 */
export function Compare({ items, first = 0, second = 1, close }) {
  const [beside, setBeside] = useState(items.length > 2);
  const way = (
    /** @type {boolean} */ value,
    /** @type {string} */ text,
  ) => html`<button type="button" class=${value === beside ? "active" : ""}
    aria-pressed=${value === beside} onClick=${() => setBeside(value)}>${text}</button>`;
  return html`<${Dialog} close=${close} label=${t("compare")} kind="compare">
    <header class="row"><h2>${t("compare")}</h2><span class="space"></span>
      <div class="segments" role="group" aria-label=${t("compare")}>
        ${way(true, t("compareBeside"))}${way(false, t("compareOver"))}</div></header>
    ${beside ? html`<${Beside} items=${items} />` : html`<${Sliding} items=${items} first=${first} second=${second} />`}
    <div class="row"><span class="space"></span><button class="button" onClick=${close}>${t("close")}</button></div>
  <//>`;
}
