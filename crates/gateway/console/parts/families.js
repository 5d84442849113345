// What to make: the intent in a word, what makes it as a picture of what it makes, and the ways of the chosen one.
import { html } from "../lib.js";
import { local, t } from "../words.js";
import { deed, quotaOf, tile } from "../show.js";
import { isPicture, promptOf } from "../catalogue.js";
import { useStartPrices } from "./quote.js";

export const INTENTS = ["picture", "edit", "video", "swap"];

/** What somebody wants who uses an operation, by what it takes and makes. @param {Operation} operation */
export function intentOf(operation) {
  if (operation.makes === "video" || operation.fields.some((field) => field.required && field.widget === "video"))
    return "video";
  const given = operation.fields.filter(isPicture);
  const needed = given.filter((field) => field.required);
  if (promptOf(operation)) return needed.length ? "edit" : "picture";
  if (needed.length > 1) return "swap";
  return given.length ? "edit" : "picture";
}

/**
 * The way to begin with a family: one that needs words and no earlier job, if there is one.
 * @param {All} all @param {string} family
 */
export function first(all, family, intent = "") {
  const own = all.operations.filter((one) => one.family === family && (!intent || intentOf(one) === intent));
  const free = own.filter((one) => !one.follows);
  const spoken = (/** @type {Operation} */ one) =>
    one.fields.some((field) => field.required && field.widget === "prompt");
  const easy = (/** @type {Field} */ field) => !field.required || field.widget === "prompt" || field.options;
  return (
    free.find((one) => spoken(one) && one.fields.every(easy)) ||
    free.find(spoken) ||
    free.find((one) => promptOf(one)) ||
    free[0] ||
    own[0]
  );
}

/** The families that have a way to begin with an intent. @param {All} all @param {string} intent */
export const familiesFor = (all, intent) =>
  all.families.filter((family) =>
    all.operations.some((one) => one.family === family && !one.follows && intentOf(one) === intent),
  );

/** The way to begin with an intent: one that needs words, if there is one. @param {All} all @param {string} intent */
function begin(all, intent) {
  const ways = familiesFor(all, intent).map((family) => first(all, family, intent));
  return ways.find((one) => promptOf(one)) || ways[0];
}

/** @param {{ all: All, chosen: string, choose: (one: Operation) => void }} given */
export function Intents({ all, chosen, choose }) {
  const offered = INTENTS.filter((one) => one === chosen || familiesFor(all, one).length);
  return html`<div class="segments" role="group" aria-label=${t("whatMake")}>${offered.map(
    (one) => html`
      <button type="button" class=${one === chosen ? "active" : ""} aria-pressed=${one === chosen}
        onClick=${() => one !== chosen && choose(begin(all, one))}>
        ${t(`intent.${one}`)}</button>`,
  )}</div>`;
}

/** @param {{ all: All, family: string, chosen: Operation, choose: (one: Operation) => void }} given */
export function Operations({ all, family, chosen, choose }) {
  const intent = intentOf(chosen);
  const fits = (/** @type {Operation} */ one) => one.name === chosen.name || (!one.follows && intentOf(one) === intent);
  const operations = all.operations.filter((one) => one.family === family && fits(one));
  if (operations.length < 2) return null;
  return html`<div class="chips" role="group" aria-label=${t("way")}>${operations.map(
    (one) => html`
    <button type="button" class=${`chip${one.name === chosen.name ? " active" : ""}`}
      aria-pressed=${one.name === chosen.name}
      onClick=${() => choose(one)} title=${local(one.summary)}>${deed(one.name)}</button>`,
  )}</div>`;
}

/**
 * What families make, as a picture of it; one without a picture has its name alone.
 * @param {{ all: All, intent: string, chosen: string, choose: (family: string) => void }} given
 */
export function Tiles({ all, intent, chosen, choose }) {
  const families = familiesFor(all, intent);
  const shown = families.includes(chosen) ? families : [chosen, ...families];
  const ways = shown.map((family) => first(all, family, intent));
  const prices = useStartPrices(ways.filter(Boolean));
  const costOf = (/** @type {number} */ place) => prices[ways[place]?.name];
  if (shown.length < 2) return null;
  return html`<div class="tiles" role="group" aria-label=${t("family")}>
    ${shown.map(
      (family, place) => html`
      <button type="button" key=${family} class=${`tile${family === chosen ? " active" : ""}`}
        aria-pressed=${family === chosen} onClick=${() => choose(family)}>
      <img src=${tile(family)} alt="" width="104" height="70" onError=${(event) => {
        event.target.hidden = true;
      }} />
      <span>${local(family)}</span>
      <span class="tile-price">${costOf(place) === undefined ? " " : quotaOf(costOf(place))}</span></button>`,
    )}</div>`;
}
