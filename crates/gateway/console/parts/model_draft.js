// A model between the form and the service: a row becomes a draft, a draft a definition, and two definitions what
// differs.
import { t } from "../words.js";
import { fieldName } from "../show.js";
import { priceLine, routeLine } from "./model.js";
import { cleanRule, ruleLine } from "./model_fields.js";
import { cleanPrice } from "./model_price.js";

/** @type {ModelDraft} */
export const EMPTY = {
  name: "",
  title: "",
  like: "",
  fields: {},
  aliases: "",
  routes: [],
  price: undefined,
  groups: "",
  enabled: true,
  retires: "",
  successor: "",
};

/** @param {object} object */
const some = (object) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== undefined));
/** @param {string} text */
const list = (text) => [...new Set(text.split(/[\s,]+/).filter(Boolean))];

/** A row of the service as the form holds it. @param {Wire.SoldModel} row @returns {ModelDraft} */
export const draftOf = (row) => ({
  name: row.name,
  title: row.title || "",
  like: row.like || "",
  aliases: (row.aliases || []).join(", "),
  groups: (row.groups || []).join(", "),
  enabled: row.enabled !== false,
  fields: some(Object.fromEntries(Object.entries(row.fields || {}).map(([name, rule]) => [name, cleanRule(rule)]))),
  routes: (row.routes || []).map((route) => /** @type {WayTo} */ (some(route))),
  price: row.price || undefined,
  retires: row.retires || "",
  successor: row.successor || "",
});

/** What the form says, as the service takes it. @param {ModelDraft} draft */
export const definitionOf = (draft) => ({
  name: draft.name.trim(),
  title: draft.title.trim() || null,
  like: draft.like || null,
  fields: draft.fields,
  aliases: list(draft.aliases),
  routes: draft.routes,
  price: cleanPrice(draft.price, draft.fields),
  groups: list(draft.groups),
  enabled: draft.enabled,
  retires: draft.retires || null,
  successor: draft.successor.trim() || null,
});

/** @param {unknown} value */
const isNothing = (value) =>
  value === null || (Array.isArray(value) ? !value.length : typeof value === "object" && !Object.keys(value).length);

/** A new model without what was left empty. @param {ModelDraft} draft */
export const newModel = (draft) =>
  Object.fromEntries(Object.entries(definitionOf(draft)).filter(([, value]) => !isNothing(value)));

/** The same text for the same value, in whichever order its names stand. @param {unknown} value */
const text = (value) =>
  JSON.stringify(value, (_, one) =>
    one && typeof one === "object" && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );

/** The parts of a definition that are other than they were. @param {ModelDraft} before @param {ModelDraft} after */
export function changesOf(before, after) {
  /** @type {Record<string, unknown>} */
  const was = definitionOf(before);
  return Object.fromEntries(
    Object.entries(definitionOf(after)).filter(([name, value]) => text(value) !== text(was[name])),
  );
}

/** A part of a definition in words. @param {string} name @param {Json} definition @param {string} makes */
export function partLine(name, definition, makes) {
  const value = definition[name];
  if (isNothing(value)) return "–";
  if (name === "price") return priceLine(value, makes);
  if (name === "routes") return routeLine(value);
  if (name === "fields")
    return Object.entries(value)
      .map(([field, rule]) => `${fieldName(field)}: ${ruleLine(rule, definition.like)}`)
      .join("; ");
  if (typeof value === "boolean") return t(value ? "yes" : "no");
  return [value].flat().join(", ");
}
