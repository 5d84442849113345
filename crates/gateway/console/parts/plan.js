// The plan of an account: what it gives, when it is renewed, and what comes after it.
import { html, useEffect, useState } from "../lib.js";
import { t } from "../words.js";
import { count, exactly, quotaOf, when } from "../show.js";
import { get } from "../api.js";

/** How long a period is, in words. @param {Wire.Every | null} every */
export const everyText = (every) =>
  every && typeof every === "object" ? t("planDays", count(every.days)) : t(`plan.${every}`);
/** `1,000 quota each month`. @param {{ quota: Wire.Quota | null, every: Wire.Every | null }} given */
export const givesText = ({ quota, every }) => t("planGift", quotaOf(quota), everyText(every));

/** @param {{ title: string, children: Hole }} given */
const Term = ({ title, children }) => html`<div><dt>${title}</dt><dd class="break">${children}</dd></div>`;

/** @param {{ at: string | null }} given */
const At = ({ at }) => html`<time title=${exactly(at)}>${when(at)}</time>`;

/** What the next renewal makes of it, where that is no renewal. @param {Wire.AccountPlan} plan */
function comingText({ from, until, next, ends, unpaid, waitsUntil }) {
  if (unpaid) return waitsUntil ? t("planUnpaid", when(waitsUntil)) : t("planStopped");
  if (ends) return from ? t("planEndsOn", when(until)) : t("planNotBegun");
  return next ? t("planNextFrom", next, when(until)) : "";
}

/** @param {{ plan: Wire.AccountPlan }} given */
function Terms({ plan }) {
  const coming = comingText(plan);
  return html`<dl class="terms">
      <${Term} title=${t("name")}><b>${plan.plan}</b><//>
      ${plan.quota !== null && html`<${Term} title=${t("planGives")}>${givesText(plan)}<//>`}
      ${!coming && html`<${Term} title=${t(plan.from ? "planRenews" : "planBegins")}><${At} at=${plan.until} /><//>`}
      ${
        plan.rollover !== null &&
        html`<${Term} title=${t("planRollover")}>${
          Number(plan.rollover) ? t("planUpTo", count(plan.rollover)) : t("planNothing")
        }<//>`
      }
      ${plan.paidAhead > 0 && html`<${Term} title=${t("planAhead")}>${t("planPeriods", count(plan.paidAhead))}<//>`}
      ${plan.then && html`<${Term} title=${t("planThen")}>${t(`then.${plan.then}`)}<//>`}</dl>
    ${coming && html`<p class="told due" role="status">${coming}</p>`}`;
}

/**
 * `path` is where it is asked for; another `seen` has it asked for again. `deeds` draws what can be done with it. An
 * account that has no plan shows none, unless `empty` says so.
 * @param {{ path: string, seen?: number, deeds?: ((plan: Wire.AccountPlan) => Hole) | null, empty?: boolean }} given
 */
export function Plan({ path, seen = 0, deeds = null, empty = false }) {
  const [plan, setPlan] = useState(/** @type {Wire.AccountPlan | null} */ (null));
  useEffect(() => {
    get(path).then(
      (answer) => setPlan(answer.data),
      () => setPlan(null),
    );
  }, [path, seen]);
  if (!plan || !(plan.plan || (deeds && empty))) return null;
  return html`<section class="card plan" aria-label=${t("plan")}>
    <header><h2>${t("plan")}</h2>
      ${!plan.plan && html`<p class="dim">${t("planNone")}</p>`}
      ${deeds?.(plan)}</header>
    ${plan.plan && html`<${Terms} plan=${plan} />`}</section>`;
}
