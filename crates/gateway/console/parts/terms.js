// What a key or a member may spend and do: in one line, and as the fields of a form.
import { t } from "../words.js";
import { count } from "../show.js";

const WINDOWS = ["day", "week", "month", "total"];
const LISTS = /** @type {const} */ (["operations", "models", "addresses"]);

/**
 * What somebody may spend and has, in one line.
 * @param {{ limits?: Wire.KeyLimitState[], operations?: string[], models?: string[], addresses?: string[],
 * submitsPerSecond?: number | null, maxQueue?: number | null }} row
 */
export function spending(row) {
  const limits = (row.limits || []).map((one) =>
    t("spentOf", count(one.spent), count(one.quota), t(`window.${one.window}`)),
  );
  const lists = LISTS.filter((name) => row[name]?.length).map((name) => row[name]?.join(", "));
  const rate = row.submitsPerSecond ? [t("perSecond", row.submitsPerSecond)] : [];
  const queue = row.maxQueue ? [t("inQueue", row.maxQueue)] : [];
  return [...limits, ...lists, ...rate, ...queue].join(" · ");
}

/**
 * The fields of a form about it.
 * @param {{ limits?: Wire.KeyLimitState[], operations?: string[], models?: string[], addresses?: string[],
 * submitsPerSecond?: number | null, maxQueue?: number | null }} row @returns {AskField[]}
 */
export const termFields = (row) => [
  ...WINDOWS.map((window) => ({
    name: window,
    label: t("limitIn", t(`window.${window}`)),
    type: "number",
    value: row.limits?.find((one) => one.window === window)?.quota,
  })),
  ...LISTS.map((name) => ({
    name,
    label: t(`only.${name}`),
    value: row[name]?.join(", "),
    placeholder: { operations: "artgen.*", models: "image-*", addresses: "203.0.113.0/24" }[name],
  })),
  { name: "submitsPerSecond", label: t("submitsASecond"), type: "number", value: row.submitsPerSecond },
  { name: "maxQueue", label: t("unfinishedMost"), type: "number", value: row.maxQueue },
];

/** What a form says of it; what is left empty is none. @param {Values} given @returns {Values} */
export function termsOf(given) {
  const list = (/** @type {string} */ text) => (text ? text.split(/[\s,]+/).filter(Boolean) : null);
  const limits = WINDOWS.filter((window) => given[window] !== undefined).map((window) => ({
    window,
    quota: given[window],
  }));
  /** @type {Values} */
  const terms = {
    limits: limits.length ? limits : null,
    submitsPerSecond: given.submitsPerSecond ?? null,
    maxQueue: given.maxQueue ?? null,
  };
  for (const name of LISTS) terms[name] = list(given[name]);
  return terms;
}
