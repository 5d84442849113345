// A model as people read it: its price, its routes and its state, each in one line.
import { t } from "../words.js";
import { count, dateOf, deed, percent } from "../show.js";

/** So many factors stand in the line; the form has all of them. */
const MOST = 3;

/** Whether a price is one for each operation. */
export const isEach = (price) => Boolean(price) && price.unit === undefined;

/** `0.04 per image, ×2 at 2048x2048`. */
function unitLine({ unit, amount, factors }, makes) {
  const noun = unit === "item" ? (makes === "video" ? "video" : "image") : unit;
  const found = Object.values(factors || {})
    .flatMap((words) => Object.entries(words))
    .filter(([, factor]) => Number(factor) !== 1);
  const shown = found.slice(0, MOST).map(([word, factor]) => t("priceAt", count(factor), word));
  return [t(`price.${noun}`, count(amount)), ...shown, ...(found.length > MOST ? ["…"] : [])].join(", ");
}

/** The price in one line; empty where the model has none of its own. */
export function priceLine(price, makes = "picture") {
  if (!price) return "";
  if (!isEach(price)) return unitLine(price, makes);
  const lines = Object.entries(price).map(([operation, one]) => [deed(operation), unitLine(one, makes)]);
  const same = new Set(lines.map(([, line]) => line)).size === 1;
  return same ? lines[0][1] : lines.map(([name, line]) => `${name}: ${line}`).join(" · ");
}

/** Routes by rank, the lowest first. `rankOf` gives a back end's own rank. */
export function ranked(routes, rankOf = (_) => 0) {
  const groups = new Map();
  for (const route of routes || []) {
    const rank = route.rank ?? rankOf(route.backend) ?? 0;
    groups.set(rank, [...(groups.get(rank) || []), route]);
  }
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group);
}

/** The share of a route among those of its rank. */
export const shareOf = (route, group) =>
  percent(
    route.weight ?? 1,
    group.reduce((sum, one) => sum + (one.weight ?? 1), 0),
  );

/** `openai (gpt-image-2) 75 % · fal 25 % → replicate`: shares within a rank, the next rank behind the arrow. */
export function routeLine(routes, rankOf) {
  const name = (route) => `${route.backend}${route.model ? ` (${route.model})` : ""}`;
  const line = (group) =>
    group.map((route) => (group.length > 1 ? `${name(route)} ${shareOf(route, group)}` : name(route))).join(" · ");
  return ranked(routes, rankOf).map(line).join(" → ");
}

/** What a caller is told of a model beside its name. */
export function noteOf(model) {
  const going = model.retires ? `${stateOf(model).text}${model.successor ? ` → ${model.successor}` : ""}` : "";
  return [model.title === model.name ? "" : model.title, priceLine(model.price, model.operations[0]?.makes), going]
    .filter(Boolean)
    .join(" · ");
}

/**
 * An operation as a model takes it: fields that it refuses are left out, and the others have its words, bounds and
 * defaults.
 */
export function narrowed(operation, model) {
  const rules = model?.operations.find((one) => one.name === operation.name)?.fields;
  if (!rules) return operation;
  const isModel = (field) => field.name === "model" || field.name === "modelName";
  const fitted = (field) => {
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

/** What was chosen, without what a model does not take. */
export function fitting(values, operation) {
  const fields = new Map(operation.fields.map((field) => [field.name, field]));
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => fields.has(name) && (!fields.get(name).options || fields.get(name).options.includes(value)),
    ),
  );
}

/** Whether a model is sold now: the kind of its mark, and the words. */
export function stateOf(row, now = Date.now()) {
  if (row.enabled === false) return { kind: "exhausted", text: t("modelOff") };
  if (!row.retires) return { kind: "delivered", text: t("modelOn") };
  const past = Date.parse(row.retires) <= now;
  return { kind: past ? "exhausted" : "due", text: t(past ? "modelRetired" : "modelRetires", dateOf(row.retires)) };
}
