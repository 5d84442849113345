// The price of a model: a unit, an amount, and factors for the words of fields; one for all operations or one for each.
import { html } from "../lib.js";
import { t } from "../words.js";
import { deed, fieldName } from "../show.js";
import { isEach, priceLine } from "./model.js";
import { wordsOf } from "./likes.js";

const UNITS = ["call", "item", "second", "megapixel"];

/**
 * A number with at most three places, as quota has.
 * @param {{ id: string, value: number | undefined, change: (next: number | undefined) => void, label: string,
 * required?: boolean }} given
 */
const Amount = ({ id, value, change, label, required = false }) => html`<input id=${id} aria-label=${label}
  type="number" inputmode="decimal" min="0" step="0.001" required=${required} value=${value ?? ""}
    onInput=${(event) => change(event.target.value === "" ? undefined : Number(event.target.value))} />`;

/**
 * A factor for every word of a field.
 * @param {{ id: string, field: Field, words: Json[], value: Record<string, number>, change: (next: Record<string,
 * number>) => void, drop: () => void }} given
 */
function Factors({ id, field, words, value, change, drop }) {
  const set = (/** @type {string} */ word, /** @type {number | undefined} */ factor) => {
    const next = { ...value };
    if (factor === undefined) delete next[word];
    else next[word] = factor;
    change(next);
  };
  return html`<fieldset class="mapping factors"><legend class="visually-hidden">
    ${t("factorsOf", fieldName(field.name))}</legend>
    <p class="row"><b>${fieldName(field.name)}</b> <code class="dim">${field.name}</code><span class="space"></span>
      <button type="button" class="button quiet danger" onClick=${drop}>${t("remove")}</button></p>
    <div class="prices">
      ${words.map(
        (word) => html`<label key=${word}><span class="code">${String(word)}</span>
          <${Amount} id=${`${id}-${field.name}-${word}`} label=${t("factorAt", String(word))} value=${value[word]}
            change=${(factor) => set(String(word), factor)} /></label>`,
      )}</div></fieldset>`;
}

/**
 * @param {{ id: string, price: UnitDraft | undefined, change: (next: UnitDraft | undefined) => void, fields: Field[],
 * rules: Record<string, Rule>, makes: string }} given
 */
function UnitPrice({ id, price, change, fields, rules, makes }) {
  const now = price || { unit: "", factors: {} };
  const factors = now.factors || {};
  const worded = fields.filter((field) => wordsOf(field, rules[field.name]).length > 0);
  const rest = worded.filter((field) => !factors[field.name] && !rules[field.name]?.refused);
  const put = (/** @type {string} */ name, /** @type {Record<string, number> | undefined} */ value) => {
    const next = { ...factors };
    if (value) next[name] = value;
    else delete next[name];
    change({ ...now, factors: next });
  };
  // The operator's own list of words is known for certain; of a built-in model only some of the schema's may be its
  // own.
  const begin = (/** @type {string} */ name) =>
    put(name, Object.fromEntries((rules[name]?.allowed || []).map((word) => [String(word), 1])));
  return html`<div class="two"><div class="field"><label for=${`${id}-unit`}>${t("priceUnit")}</label>
      <select id=${`${id}-unit`} value=${now.unit}
        onChange=${(event) => change(event.target.value ? { ...now, unit: event.target.value } : undefined)}>
          <option value="">${t("priceTariff")}</option>
            ${UNITS.map(
              (unit) => html`<option value=${unit}>
                ${t(`unit.${unit === "item" ? (makes === "video" ? "video" : "image") : unit}`)}</option>`,
            )}</select>
                  </div>
    ${
      now.unit &&
      html`<div class="field"><label for=${`${id}-amount`}>${t("amount")}</label>
        <${Amount} id=${`${id}-amount`} value=${now.amount} required=${true}
          change=${(amount) => change({ ...now, amount })} /></div>`
    }</div>
    ${
      now.unit &&
      html`${worded
        .filter((field) => factors[field.name])
        .map(
          (field) =>
            html`<${Factors} key=${field.name} id=${id} field=${field} words=${wordsOf(field, rules[field.name])}
            value=${factors[field.name]} change=${(value) => put(field.name, value)}
              drop=${() => put(field.name, undefined)} />`,
        )}
      ${
        rest.length > 0 &&
        html`<div class="field"><label for=${`${id}-factors`}>${t("factorsFor")}</label>
          <select id=${`${id}-factors`} value=""
            onChange=${(event) => {
              if (event.target.value) begin(event.target.value);
            }}>
              <option value="">${t("choose")}</option>
                ${rest.map(
                  (field) => html`<option value=${field.name}>${fieldName(field.name)} (${field.name})</option>`,
                )}
                    </select><p class="hint">${t("factorsHint")}</p></div>`
      }
      <p class="hint">${priceLine(/** @type {Wire.UnitPrice} */ (now), makes)}</p>`
    }`;
}

/**
 * `value` is what stands under `price` of the model, or nothing.
 * @param {{ like: Like, fields: Field[], rules: Record<string, Rule>, value: Json,
 * change: (next: Json) => void }} given
 */
export function ModelPrice({ like, fields, rules, value, change }) {
  const operations = like.operations;
  const each = isEach(value);
  const split = (/** @type {boolean} */ on) =>
    change(
      on
        ? Object.fromEntries(operations.map((one) => [one.name, value || { unit: "item", factors: {} }]))
        : Object.values(value)[0],
    );
  const put = (/** @type {string} */ name) => (/** @type {Json} */ price) => {
    const next = { ...value };
    if (price) next[name] = price;
    else delete next[name];
    change(Object.keys(next).length ? next : undefined);
  };
  return html`${
    (operations.length > 1 || each) &&
    html`<div class="field"><div class="chips" role="group" aria-label=${t("priceKinds")}>
      <button type="button" class=${`chip${each ? "" : " active"}`} aria-pressed=${!each}
        onClick=${() => each && split(false)}>${t("priceOne")}</button>
      <button type="button" class=${`chip${each ? " active" : ""}`} aria-pressed=${each}
        onClick=${() => !each && split(true)}>${t("priceEach")}</button></div></div>`
  }
    ${
      !each &&
      html`<${UnitPrice} id="price" price=${value} change=${change} fields=${fields} rules=${rules}
        makes=${like.makes} />`
    }
    ${
      each &&
      operations.map(
        (one) => html`<section key=${one.name}><h3>${deed(one.name)} <code class="dim">${one.name}</code></h3>
          <${UnitPrice} id=${`price-${one.name.replace(/\./g, "-")}`} price=${value[one.name]} change=${put(one.name)}
            fields=${fields.filter((field) => one.fields.some((other) => other.name === field.name))} rules=${rules}
              makes=${one.makes} /></section>`,
      )
    }`;
}

/**
 * A price without factors for words that the fields no longer have; nothing where there is no unit.
 * @param {Json} price @param {Record<string, Rule>} rules @returns {Json}
 */
export function cleanPrice(price, rules) {
  if (!price) return null;
  if (isEach(price)) {
    const all = Object.entries(price)
      .map(([name, one]) => [name, cleanPrice(one, rules)])
      .filter(([, one]) => one);
    return all.length ? Object.fromEntries(all) : null;
  }
  if (!price.unit) return null;
  const fits = (/** @type {string} */ name) => (/** @type {string} */ word) =>
    !rules[name]?.allowed || rules[name].allowed.some((one) => String(one) === word);
  const factors = Object.entries(price.factors || {})
    .filter(([name]) => !rules[name]?.refused)
    .map(([name, words]) => [name, Object.fromEntries(Object.entries(words).filter(([word]) => fits(name)(word)))]);
  return {
    unit: price.unit,
    amount: price.amount,
    ...(factors.length ? { factors: Object.fromEntries(factors) } : {}),
  };
}
