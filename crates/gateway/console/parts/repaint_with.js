// Which operation repaints a region of a result.
import { followers, isPicture } from "../catalogue.js";
import { offered } from "./follow_ups.js";

/** @param {Operation} operation */
export const maskOf = (operation) => operation.fields.find((field) => field.widget === "mask");

/**
 * The follow-up of the job's own family where its picture allows one, otherwise whatever takes a picture and a mask.
 * @param {All} all @param {Job} job
 */
export function repainter(all, job) {
  const own = followers(all, job).find(maskOf);
  const whole = offered(job).some((/** @type {string} */ name) => !/[1-4]$|^reroll$/.test(name));
  if (own && whole) return own;
  return all.operations.find((one) => !one.follows && maskOf(one) && one.fields.some(isPicture));
}
