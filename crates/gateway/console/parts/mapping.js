// Mappings of a universal vendor: which of its models serves an operation, and what its inputs are filled with. Models
// that come with the vendor are chosen by name; any other is written here, input by input.
import { html } from "../lib.js";
import { many, t } from "../words.js";

const VARIANTS = ["", "/image", "/mask"];

/** Every place of ours that a mapping of this vendor names. @param {Json} value */
function places(value, found = new Set()) {
  if (typeof value === "string") for (const [, name] of value.matchAll(/\{\{(\w+)\}\}/g)) found.add(name);
  else if (value && typeof value === "object") for (const one of Object.values(value)) places(one, found);
  return found;
}

/** @param {Json} value */
const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));
/** A text stays one; what reads as a number, a truth, a list or an object is that. @param {string} text */
function read(text) {
  if (!/^[\d[{-]|^(true|false|null)$/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
/** @param {string} text @param {boolean} number */
const list = (text, number) =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean)
    .map((one) => (number ? Number(one) : one));

/** @param {{ input: Values, change: (next: Values | undefined) => void, names: string[], id: string }} given */
function Inputs({ input, change, names, id }) {
  const rows = Object.entries(input);
  const put = (/** @type {number} */ place, /** @type {string} */ key, /** @type {Json} */ value) =>
    change(Object.fromEntries(rows.map((row, at) => (at === place ? [key, value] : row))));
  return html`<div class="pairs" role="group" aria-label=${t("mapInputs")}>
    ${rows.map(
      ([key, value], place) => html`<div class="pair" key=${place}>
      <input aria-label=${t("mapInput")} placeholder="prompt" value=${key}
        onChange=${(event) => put(place, event.target.value.trim(), value)} />
      <input aria-label=${t("mapFilled")} class="code" list=${`${id}-names`} placeholder="{{prompt}}"
        value=${shown(value)} onChange=${(event) => put(place, key, read(event.target.value.trim()))} />
      <button type="button" class="plain" aria-label=${t("remove")}
        onClick=${() => change(Object.fromEntries(rows.filter((_, at) => at !== place)))}>×</button></div>`,
    )}
    <datalist id=${`${id}-names`}>${names.map((name) => html`<option value=${`{{${name}}}`} />`)}</datalist>
    <button type="button" class="plain accent" onClick=${() => change({ ...input, "": "" })}>
      ${t("mapAddInput")}</button></div>`;
}

/**
 * @param {{ place: number, name: string, value: Json, operations: string[], ready: Json[], names: string[],
 * put: (name: string, one: Json) => void, drop: () => void }} given
 */
function One({ place, name, value, operations, ready, names, put, drop }) {
  const id = `map-${place}`;
  const own = typeof value !== "string";
  const choose = (/** @type {string} */ model) =>
    put(name, model === "" ? { model: "", input: { prompt: "{{prompt}}" } } : model);
  return html`<fieldset class="mapping"><legend class="visually-hidden">${name || t("mapNew")}</legend>
    <div class="two"><div class="field"><label for=${`${id}-op`}>${t("mapFor")}</label>
      <select id=${`${id}-op`} value=${name} onChange=${(event) => put(event.target.value, value)}>
        ${!operations.includes(name) && html`<option value=${name}>${name || t("choose")}</option>`}
          ${operations.map((one) => html`<option value=${one}>${one}</option>`)}</select></div>
    <div class="field"><label for=${`${id}-model`}>${t("field.modelName")}</label>
      <select id=${`${id}-model`} value=${own ? "" : value} onChange=${(event) => choose(event.target.value)}>
        ${ready.map((one) => html`<option value=${one.model}>${one.model}</option>`)}
          <option value="">${t("mapOther")}</option></select></div></div>
    ${
      own &&
      html`<div class="field"><label for=${`${id}-name`}>${t("mapModel")}</label>
      <input id=${`${id}-name`} required value=${value.model}
        onInput=${(event) => put(name, { ...value, model: event.target.value.trim() })} /></div>
      <p class="field-title">${t("mapInputs")}</p>
        <${Inputs} id=${id} input=${value.input || {}} names=${names}
          change=${(input) => put(name, { ...value, input })} />
      <p class="hint">${t("mapPlaces")} ${names.map((one) => html`<code>${`{{${one}}}`}</code> `)}</p>
      <div class="two"><div class="field"><label for=${`${id}-seconds`}>${t("mapSeconds")}</label>
        <input id=${`${id}-seconds`} value=${(value.seconds || []).join(", ")} placeholder=${t("any")}
          onChange=${(event) => put(name, { ...value, seconds: list(event.target.value, true) })} /></div>
      <div class="field"><label for=${`${id}-ratios`}>${t("mapRatios")}</label>
        <input id=${`${id}-ratios`} value=${(value.ratios || []).join(", ")} placeholder=${t("any")}
          onChange=${(event) => put(name, { ...value, ratios: list(event.target.value, false) })} /></div></div>`
    }
    <div class="row"><span class="space"></span><button type="button" class="button quiet danger" onClick=${drop}>
      ${t("remove")}</button></div></fieldset>`;
}

/**
 * `value` is what stands in the settings under `models`, or nothing.
 * @param {{ vendor: Wire.VendorRow, value: Json, change: (next: Values | undefined) => void,
 * operations: string[] }} given
 */
export function MappingEditor({ vendor, value, change, operations }) {
  const rows = Object.entries(value || {});
  const ready = /** @type {Mapping[]} */ (vendor.mappings);
  const names = [...places(ready.map((one) => one.input))].sort();
  const known = [
    ...new Set([
      ...ready.flatMap((one) => one.operations || []),
      ...operations.flatMap((one) => VARIANTS.map((variant) => one + variant)),
    ]),
  ].sort();
  const put = (/** @type {number} */ place) => (/** @type {string} */ name, /** @type {Json} */ one) =>
    change(Object.fromEntries(rows.map((row, at) => (at === place ? [name, one] : row))));
  const drop = (/** @type {number} */ place) => {
    const left = rows.filter((_, at) => at !== place);
    change(left.length ? Object.fromEntries(left) : undefined);
  };
  const add = () => {
    const free = known.find((one) => !value?.[one]) || "";
    const fits = ready.find((one) => one.operations?.includes(free));
    change({ ...value, [free]: fits ? fits.model : ready[0].model });
  };
  return html`<section class="mappings"><h3>${t("mappings")}</h3>
    <p class="hint">${rows.length ? t("mapOnly") : many(ready.length, "mapReadyOne", "mapReadyMany")}</p>
    ${
      !rows.length &&
      html`<details><summary>${t("mapShow")}</summary>
        <dl class="ready">
          ${ready.map(
            (one) => html`<dt class="code">${one.model}</dt>
            <dd class="dim">${(one.operations || []).join(", ")}</dd>`,
          )}</dl></details>`
    }
    ${rows.map(
      ([name, one], place) =>
        html`<${One} key=${place} place=${place} name=${name} value=${one} operations=${known} ready=${ready}
          names=${names} put=${put(place)} drop=${() => drop(place)} />`,
    )}
    <div class="row"><button type="button" class="button quiet" onClick=${add}>${t("mapAdd")}</button></div></section>`;
}
