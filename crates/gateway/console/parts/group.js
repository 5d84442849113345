// A group of accounts between the form and the service: its rules in words and as drafts.
import { t } from "../words.js";
import { count, dateOf } from "../show.js";

/** `artgen.imagine: × 0.8 from 1 Jan 2027`. @param {Wire.GroupRule} rule */
export function ruleText(rule) {
  const price =
    rule.amount === undefined || rule.amount === null
      ? `× ${count(rule.factor)}`
      : t("groupAmount", count(rule.amount));
  return `${rule.match === "*" ? t("groupAll") : rule.match}: ${price}${
    rule.from ? ` ${t("ruleFrom", dateOf(rule.from))}` : ""
  }`;
}

/** A rule of the service as the form holds it. @param {Wire.GroupRule} rule @returns {RuleDraft} */
export const draftRule = (rule) => ({
  match: rule.match,
  kind: rule.amount === undefined || rule.amount === null ? "factor" : "amount",
  value: rule.amount ?? rule.factor ?? "",
  from: rule.from || "",
});

/** What the form says, as the service takes it. @param {RuleDraft} draft */
export const definedRule = (draft) => ({
  match: draft.match.trim(),
  [draft.kind]: draft.value === "" ? null : Number(draft.value),
  ...(draft.from ? { from: draft.from } : {}),
});
