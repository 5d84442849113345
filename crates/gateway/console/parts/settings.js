// Fields made from a JSON Schema: a choice, a text, a number, yes or no, a list, a table of pairs; anything deeper as
// JSON.
import { html, useState } from "../lib.js";
import { maybe, t } from "../words.js";
import { fieldName } from "../show.js";
import { resolver } from "../catalogue.js";
import { Prose } from "./prose.js";

/** @param {Schema | undefined} schema */
const kinds = (schema) => [schema?.type].flat().filter((kind) => kind && kind !== "null");

/** The fields of an object, each with the kind of input that fits. @param {Schema | undefined} schema */
export function described(schema) {
  const resolve = resolver({ components: { schemas: schema?.$defs || {} } });
  return Object.entries(schema?.properties || {}).map(([name, property]) => {
    const one = resolve(property);
    const options =
      one.enum ||
      (one.oneOf?.every((/** @type {Schema} */ option) => option.const !== undefined)
        ? one.oneOf.map((/** @type {Schema} */ option) => option.const)
        : null);
    const [type] = kinds(one);
    const inner = one.additionalProperties && resolve(one.additionalProperties);
    const kind = options
      ? "choice"
      : type === "array" && kinds(resolve(one.items || {})).some((each) => each !== "object")
        ? "list"
        : type === "object" && inner && (kinds(inner).includes("string") || inner.anyOf)
          ? "pairs"
          : type && ["string", "integer", "number", "boolean"].includes(type)
            ? type
            : "json";
    return {
      name,
      kind,
      whole: type === "integer" || kinds(resolve(one.items || {})).includes("integer"),
      least: one.minimum,
      most: one.maximum,
      options: options?.filter((/** @type {Json} */ option) => option !== null),
      about: one.oneOf?.map((/** @type {Schema} */ option) => option.description),
      text: property.description || (one.oneOf ? "" : one.description) || maybe(`setting.${name}`) || "",
      default: property.default ?? one.default,
    };
  });
}

/**
 * A pair a line: what it is for, and what is used there.
 * @param {{ id: string, value: Json, change: (next: Json) => void, known: string[], label: string }} given
 */
function Pairs({ id, value, change, known, label }) {
  const rows = Object.entries(value || {});
  const put = (/** @type {number} */ place, /** @type {string} */ key, /** @type {Json} */ inner) =>
    change(
      Object.fromEntries(
        rows.map((row, at) => (at === place ? [key, inner] : row)).filter(([name, text]) => name || text),
      ),
    );
  const shown = (/** @type {Json} */ inner) => (typeof inner === "string" ? inner : JSON.stringify(inner));
  const read = (/** @type {string} */ text) => {
    try {
      return text.startsWith("{") ? JSON.parse(text) : text;
    } catch {
      return text;
    }
  };
  return html`<div class="pairs" role="group" aria-label=${label}>
    ${rows.map(
      ([key, inner], place) => html`<div class="pair" key=${place}>
      <input id=${place ? undefined : id} list=${`${id}-known`} aria-label=${t("pairFor")} placeholder=${t("pairFor")}
        value=${key} onChange=${(event) => put(place, event.target.value.trim(), inner)} />
      <input aria-label=${t("pairUse")} placeholder=${t("pairUse")} value=${shown(inner)}
        onChange=${(event) => put(place, key, read(event.target.value.trim()))} />
      <button type="button" class="plain" aria-label=${t("remove")}
        onClick=${() => change(Object.fromEntries(rows.filter((_, at) => at !== place)))}>×</button></div>`,
    )}
    <datalist id=${`${id}-known`}>${known.map((one) => html`<option value=${one} />`)}</datalist>
    <button type="button" id=${rows.length ? undefined : id} class="plain accent"
      onClick=${() => change({ ...value, "": "" })}>${t("addLine")}</button></div>`;
}

/**
 * Deep settings as JSON, read when the field is left.
 * @param {{ id: string, value: Json, change: (next: Json) => void }} given
 */
function Deep({ id, value, change }) {
  const [wrong, setWrong] = useState("");
  const leave = (/** @type {On} */ event) => {
    const text = event.target.value.trim();
    try {
      change(text ? JSON.parse(text) : undefined);
      setWrong("");
    } catch {
      setWrong(t("mustBeJson"));
    }
  };
  return html`<textarea id=${id} class="code" rows="3" spellcheck="false" placeholder="{}" onChange=${leave}>
    ${value === undefined ? "" : JSON.stringify(value, null, 2)}</textarea>
    ${wrong && html`<p class="problem" role="alert">${wrong}</p>`}`;
}

/**
 * @param {{ id: string, field: Setting, value: Json, change: (next: Json) => void, known: string[], label: string,
 * unset: string, required: boolean }} given
 */
function Input({ id, field, value, change, known, label, unset, required }) {
  const usual =
    unset ||
    (field.default === undefined || field.default === null || typeof field.default === "object" || field.default === ""
      ? t("asVendor")
      : String(field.default));
  if (field.kind === "choice")
    return html`<select id=${id} value=${value ?? ""}
    onChange=${(event) => change(event.target.value || undefined)}><option value="">${usual}</option>
      ${(field.options || []).map(
        (one, place) => html`<option value=${one} title=${field.about?.[place] || ""}>${one}</option>`,
      )}</select>`;
  if (field.kind === "boolean")
    return html`<select id=${id}
    value=${value === undefined || value === null ? "" : String(value)}
      onChange=${(event) => change(event.target.value === "" ? undefined : event.target.value === "true")}>
        <option value="">
          ${unset || (field.default === true ? t("yes") : field.default === false ? t("no") : t("asVendor"))}</option>
            <option value="true">${t("yes")}</option><option value="false">${t("no")}</option></select>`;
  if (field.kind === "integer" || field.kind === "number")
    return html`<input id=${id} type="number" min=${field.least}
    max=${field.most} step=${field.whole ? 1 : "any"} value=${value ?? ""} placeholder=${usual}
      onInput=${(event) => change(event.target.value === "" ? undefined : Number(event.target.value))} />`;
  if (field.kind === "list")
    return html`<input id=${id} value=${(value || []).join(", ")} placeholder=${usual}
    onChange=${(event) => {
      const list = event.target.value
        .split(",")
        .map((/** @type {string} */ one) => one.trim())
        .filter(Boolean);
      change(list.length ? list.map((/** @type {string} */ one) => (field.whole ? Number(one) : one)) : undefined);
    }} />`;
  if (field.kind === "pairs")
    return html`<${Pairs} id=${id} value=${value} label=${label}
    change=${(next) => change(Object.keys(next).length ? next : undefined)} known=${known} />`;
  if (field.kind === "json") return html`<${Deep} key=${JSON.stringify(value)} id=${id} value=${value} change=${change} />`;
  return html`<input id=${id} value=${value ?? ""} placeholder=${usual} required=${required}
    onInput=${(event) => change(event.target.value || undefined)} />`;
}

/** @param {Setting} field */
const isWide = (field) => field.kind === "pairs" || field.kind === "json";

/** The fields with their values; `change` gets all values, without those that were cleared. @param {string} name */
export const settingName = (name) => maybe(`option.${name}`) || fieldName(name);

/**
 * `needed` names fields of which one has to be given, `lacking` those while none of them is: the first one asks for it.
 * @param {{ fields: Setting[], value: Json, change: (next: Json) => void, known?: string[], prefix?: string,
 * unset?: string, needed?: string[], lacking?: string[] }} given
 */
export function SettingsFields({
  fields,
  value,
  change,
  known = [],
  prefix = "set",
  unset = "",
  needed = [],
  lacking = [],
}) {
  const set = (/** @type {string} */ name, /** @type {Json} */ one) => {
    const next = { ...value };
    if (one === undefined) delete next[name];
    else next[name] = one;
    change(next);
  };
  const row = (/** @type {Setting} */ field) => {
    const [id, label] = [`${prefix}-${field.name}`, settingName(field.name)];
    return html`<div key=${field.name} class="field"><label for=${id}>${label}</label>
      <${Input} id=${id} label=${label} field=${field} value=${value?.[field.name]}
        change=${(one) => set(field.name, one)} known=${known}
          unset=${needed.includes(field.name) ? t("notSet") : unset} required=${lacking[0] === field.name} />
      ${field.text && html`<p class="hint"><${Prose} text=${field.text} /></p>`}</div>`;
  };
  const short = fields.filter((field) => !isWide(field));
  return html`${short.length > 0 && html`<div class="two">${short.map(row)}</div>`}${fields.filter(isWide).map(row)}`;
}
