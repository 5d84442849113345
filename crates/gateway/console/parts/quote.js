// What something would cost: asked in one question with everything that could be chosen instead.
import { useEffect, useState } from "../lib.js";
import { post } from "../api.js";

/** The price of a submit, and of each of the choices put over it; a choice that would be refused has none. */
export async function quote(operation, request, choices = []) {
  const { data } = await post("/account/v1/quote", { operation, request, ...(choices.length ? { choices } : {}) });
  return { price: Number(data.quota), choices: (data.choices || []).map((one) => (one === null ? null : Number(one))) };
}

/** What was answered about jobs that have ended, which costs the same until prices change. */
const kept = new Map();
const KEPT_MS = 120_000;
const MOST_KEPT = 200;

async function pricesOf(operation, requests) {
  const name = JSON.stringify([operation, requests]);
  const known = kept.get(name);
  if (known && known.until > Date.now()) return known.prices;
  const { choices } = await quote(operation, requests[0], requests);
  if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value);
  kept.set(name, { prices: choices, until: Date.now() + KEPT_MS });
  return choices;
}

/** The prices of deeds by their names, asked for once they are `seen`. */
export function useDeedPrices(deeds, seen) {
  const [prices, setPrices] = useState({});
  const priced = deeds.filter((one) => one.operation);
  const names = priced.map((one) => `${one.name} ${JSON.stringify(one.request)}`).join();
  useEffect(() => {
    if (!seen || !priced.length) return undefined;
    let stale = false;
    for (const operation of new Set(priced.map((one) => one.operation))) {
      const own = priced.filter((one) => one.operation === operation);
      pricesOf(
        operation,
        own.map((one) => one.request),
      ).then(
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
