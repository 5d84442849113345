// What something would cost: asked in one question with everything that could be chosen instead.
import { useEffect, useState } from "../lib.js";
import { t } from "../words.js";
import { post } from "../api.js";

/**
 * The price of a submit, and of each of the choices put over it; a choice that would be refused has none.
 * @param {string} operation @param {Values} request @param {Values[]} choices
 */
export async function quote(operation, request, choices = []) {
  const { data } = await post("/account/v1/quote", { operation, request, ...(choices.length ? { choices } : {}) });
  return { price: Number(data.quota), choices: (data.choices || []).map((one) => (one === null ? null : Number(one))) };
}

/**
 * What has to be said and is not said yet, as the example says it, so that the price is there before the first word;
 * nothing where only a job of the account's own would do.
 * @param {Operation} operation @param {Values} values
 */
export function unsaid(operation, values) {
  const empty = (/** @type {Field} */ field) =>
    (values[field.name] ?? "") === "" || onlyFlags(field, values[field.name]) || tooFew(field, values[field.name]);
  const missing = operation.fields.filter((field) => field.required && field.default === undefined && empty(field));
  const words = (/** @type {Field} */ field) => [t("example.1"), values[field.name]].filter(Boolean).join(" ");
  const example = (/** @type {Field} */ field) =>
    field.widget === "prompt" ? words(field) : operation.example[field.name];
  const assumed = missing.map((field) => [field.name, example(field)]);
  const never = missing.some((field) => field.widget === "job") || assumed.some(([, value]) => value === undefined);
  return never ? null : Object.fromEntries(assumed);
}

/**
 * Whether a prompt has no words yet, but a shape or a seed that was chosen.
 * @param {Field} field @param {unknown} value
 */
const onlyFlags = (field, value) => field.widget === "prompt" && String(value).trimStart().startsWith("--");

/**
 * Whether a list has some of what it needs, but not all of it yet, as one picture of two.
 * @param {Field} field @param {unknown} value
 */
const tooFew = (field, value) => Array.isArray(value) && value.length < (field.schema.minItems ?? 0);

/**
 * The prices of several submits, asked for in one question: { operation, request } each.
 * @param {{ operation: string; request: Values }[]} submits
 */
export async function quoteAll(submits) {
  const [one, ...others] = submits;
  const { data } = await post("/account/v1/quote", { ...one, ...(others.length ? { others } : {}) });
  return [data.quota, ...(data.others || [])].map((price) => (price === null ? null : Number(price)));
}

/** What was answered about jobs that have ended, which costs the same until prices change. */
const kept = new Map();
const KEPT_MS = 120_000;
const MOST_KEPT = 200;

/** @param {string} operation @param {Values[]} requests */
async function pricesOf(operation, requests) {
  const name = JSON.stringify([operation, requests]);
  const known = kept.get(name);
  if (known && known.until > Date.now()) return known.prices;
  const { choices } = await quote(operation, requests[0], requests);
  if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value);
  kept.set(name, { prices: choices, until: Date.now() + KEPT_MS });
  return choices;
}

/** The prices of deeds by their names, asked for once they are `seen`. @param {Deed[]} deeds @param {boolean} seen */
export function useDeedPrices(deeds, seen) {
  const [prices, setPrices] = useState(/** @type {Record<string, number>} */ ({}));
  const priced = deeds.filter((one) => one.operation);
  const names = priced.map((one) => `${one.name} ${JSON.stringify(one.request)}`).join();
  useEffect(() => {
    if (!seen || !priced.length) return undefined;
    let stale = false;
    for (const operation of new Set(priced.map((one) => one.operation || ""))) {
      const own = priced.filter((one) => one.operation === operation);
      const requests = own.map((one) => one.whole?.() ?? one.request ?? {});
      Promise.all(requests)
        .then((whole) => pricesOf(operation, whole))
        .then(
          (all) => {
            const found = Object.fromEntries(
              own
                .map((one, place) => [one.name, all[place]])
                .filter(([, price]) => price !== null && price !== undefined),
            );
            if (!stale) setPrices((old) => ({ ...old, ...found }));
          },
          () => {},
        );
    }
    return () => {
      stale = true;
    };
  }, [names, seen]);
  return prices;
}

/**
 * What it costs to begin with each of these operations as they stand, once the page can be used; by their names.
 * @param {Operation[]} operations
 */
export function useStartPrices(operations) {
  const [prices, setPrices] = useState(/** @type {Record<string, number>} */ ({}));
  const names = operations.map((one) => one.name).join();
  useEffect(() => {
    const submits = operations
      .map((one) => ({ operation: one.name, request: unsaid(one, {}) }))
      .filter((one) => one.request)
      // The first is the question itself: one that needs little is never refused.
      .sort((one, other) => Object.keys(one.request).length - Object.keys(other.request).length);
    if (submits.length < 2) return undefined;
    let stale = false;
    const idle = globalThis.requestIdleCallback || ((work) => setTimeout(work, 500));
    idle(() => {
      if (stale) return;
      startPrices(submits).then(
        (found) => {
          if (!stale) setPrices((old) => ({ ...old, ...found }));
        },
        () => {},
      );
    });
    return () => {
      stale = true;
    };
  }, [names]);
  return prices;
}

/**
 * Prices by operation, remembered as those of deeds are.
 * @param {{ operation: string; request: Values }[]} submits
 */
async function startPrices(submits) {
  const name = JSON.stringify(submits);
  const known = kept.get(name);
  if (known && known.until > Date.now()) return known.prices;
  const all = await quoteAll(submits);
  const found = submits.map((one, place) => [one.operation, all[place]]).filter(([, price]) => price !== null);
  const prices = Object.fromEntries(found);
  if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value);
  kept.set(name, { prices, until: Date.now() + KEPT_MS });
  return prices;
}
