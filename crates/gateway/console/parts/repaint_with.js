// Which operation repaints a region of a result, and a mask to ask for its price with.
import { followers, isPicture } from "../catalogue.js";
import { offered } from "./follow_ups.js";

/** @param {Operation} operation */
export const maskOf = (operation) => operation.fields.find((field) => field.widget === "mask");

/** Masks by their size: most results have the same. @type {Map<string, Promise<string>>} */
const masks = new Map();
const MOST_KEPT = 8;

/** A mask that nobody has painted yet: some of it is marked. @param {number} width @param {number} height */
export function blankMask(width, height) {
  const name = `${width}x${height}`;
  const known = masks.get(name);
  if (known) return known;
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.fillStyle = "#000000";
  context.fillRect(0, 0, width, height);
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, width / 2, height / 2);
  const made = new Promise((done, fail) => {
    canvas.toBlob((blob) => {
      const reader = new FileReader();
      reader.onload = () => done(String(reader.result).split(",")[1]);
      reader.onerror = fail;
      reader.readAsDataURL(/** @type {Blob} */ (blob));
    }, "image/png");
  });
  if (masks.size >= MOST_KEPT) masks.clear();
  masks.set(name, made);
  return made;
}

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
