// A model as people read it: its price, its routes and its state, each in one line.
import { t } from "../words.js";
import { count, dateOf, deed, percent } from "../show.js";

/** So many factors stand in the line; the form has all of them. */
const MOST = 3;

/** Whether a price is one for each operation. @param {Wire.ModelPrice | null | undefined} price */
export const isEach = (price) => Boolean(price) && /** @type {Wire.UnitPrice} */ (price).unit === undefined;

/**
 * `0.04 per image, ×2 at 2048x2048`.
 * @param {{ unit: string, amount: number, factors?: Record<string, Record<string, number>> }} given
 * @param {string} makes
 */
function unitLine({ unit, amount, factors }, makes) {
  const noun = unit === "item" ? (makes === "video" ? "video" : "image") : unit;
  const found = Object.values(factors || {})
    .flatMap((words) => Object.entries(words))
    .filter(([, factor]) => Number(factor) !== 1);
  const shown = found.slice(0, MOST).map(([word, factor]) => t("priceAt", count(factor), word));
  return [t(`price.${noun}`, count(amount)), ...shown, ...(found.length > MOST ? ["…"] : [])].join(", ");
}

/**
 * The price in one line; empty where the model has none of its own.
 * @param {Wire.ModelPrice | null | undefined} price
 */
export function priceLine(price, makes = "picture") {
  if (!price) return "";
  if (!isEach(price)) return unitLine(/** @type {Wire.UnitPrice} */ (price), makes);
  const lines = Object.entries(price).map(([operation, one]) => [deed(operation), unitLine(one, makes)]);
  const same = new Set(lines.map(([, line]) => line)).size === 1;
  return same ? lines[0][1] : lines.map(([name, line]) => `${name}: ${line}`).join(" · ");
}

/**
 * Routes by rank, the lowest first. `rankOf` gives a back end's own rank.
 * @param {WayTo[] | undefined} routes
 */
export function ranked(routes, rankOf = (/** @type {string} */ _) => /** @type {number | undefined} */ (0)) {
  const groups = new Map();
  for (const route of routes || []) {
    const rank = route.rank ?? rankOf(route.backend) ?? 0;
    groups.set(rank, [...(groups.get(rank) || []), route]);
  }
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group);
}

/** The share of a route among those of its rank. @param {WayTo} route @param {WayTo[]} group */
export const shareOf = (route, group) =>
  percent(
    route.weight ?? 1,
    group.reduce((sum, one) => sum + (one.weight ?? 1), 0),
  );

/**
 * `openai (gpt-image-2) 75 % · fal 25 % → replicate`: shares within a rank, the next rank behind the arrow.
 * @param {WayTo[] | undefined} routes @param {(backend: string) => number | undefined} [rankOf]
 */
export function routeLine(routes, rankOf) {
  const name = (/** @type {WayTo} */ route) => `${route.backend}${route.model ? ` (${route.model})` : ""}`;
  const line = (/** @type {WayTo[]} */ group) =>
    group.map((route) => (group.length > 1 ? `${name(route)} ${shareOf(route, group)}` : name(route))).join(" · ");
  return ranked(routes, rankOf).map(line).join(" → ");
}

/** What a caller is told of a model beside its name. @param {Wire.AccountModel} model */
export function noteOf(model) {
  const going = model.retires ? `${stateOf(model).text}${model.successor ? ` → ${model.successor}` : ""}` : "";
  return [model.title === model.name ? "" : model.title, priceLine(model.price, model.operations[0]?.makes), going]
    .filter(Boolean)
    .join(" · ");
}

/**
 * An operation as a model takes it: fields that it refuses are left out, and the others have its words, bounds and
 * defaults.
 * @param {Operation} operation @param {Wire.AccountModel} model
 */
export function narrowed(operation, model) {
  const rules = model?.operations.find((one) => one.name === operation.name)?.fields;
  if (!rules) return operation;
  const isModel = (/** @type {Field} */ field) => field.name === "model" || field.name === "modelName";
  const fitted = (/** @type {Field} */ field) => {
    const rule = rules[field.name];
    const words = rule?.allowed?.filter((word) => word !== null);
    return rule
      ? {
          ...field,
          options: field.options && words ? words : field.options,
          default: rule.default ?? field.default,
          schema: {
            ...field.schema,
            minimum: rule.min ?? field.schema.minimum,
            maximum: rule.max ?? field.schema.maximum,
          },
        }
      : field;
  };
  return {
    ...operation,
    fields: operation.fields.filter((field) => isModel(field) || rules[field.name] || field.required).map(fitted),
  };
}

/** What was chosen, without what a model does not take. @param {Values} values @param {Operation} operation */
export function fitting(values, operation) {
  const options = new Map(operation.fields.map((field) => [field.name, field.options]));
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => options.has(name) && options.get(name)?.includes(value) !== false),
  );
}

/**
 * Whether a model is sold now: the kind of its mark, and the words.
 * @param {{ enabled?: boolean; retires?: string | null }} row
 */
export function stateOf(row, now = Date.now()) {
  if (row.enabled === false) return { kind: "exhausted", text: t("modelOff") };
  if (!row.retires) return { kind: "delivered", text: t("modelOn") };
  const past = Date.parse(row.retires) <= now;
  return { kind: past ? "exhausted" : "due", text: t(past ? "modelRetired" : "modelRetires", dateOf(row.retires)) };
}
