// Amounts of money as people write them in their language.
import { language } from "../words.js";

/**
 * `9.90` and `EUR` as the viewer's language has it; the service says how many digits there are.
 * @param {{ price: string, currency: string }} of
 */
export function money({ price, currency }) {
  const digits = price.split(".")[1]?.length || 0;
  return new Intl.NumberFormat(language === "en" ? undefined : language, {
    style: "currency",
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(Number(price));
}

/** A part of an amount, in minor units. @param {number} part @param {{ price: string, currency: string }} of */
export const partOf = (part, { price, currency }) => {
  const digits = price.split(".")[1]?.length || 0;
  return money({ price: (part / 10 ** digits).toFixed(digits), currency });
};
