// What can be done with what a job made, the same on every page that shows it: follow-ups of one piece, of its edges
// and of the whole, and what carries it on by another operation.
import { t } from "../words.js";
import { deed, isVideo, words } from "../show.js";
import { followers, isPicture, jobField, placeField, promptOf, taker, takesAddress } from "../catalogue.js";
import { sorted } from "./follow_ups.js";
import { blankMask, maskOf, repainter } from "./repaint_with.js";
import { isStill } from "./pieces.js";

/** Operations that are reached by other ways than by their own name. */
const ELSEWHERE = new Set(["action", "seed"]);

/** The operation that makes a video of a picture by its address. @param {All} all */
export const mover = (all) =>
  taker(all, "", (one) => one.makes === "video" && one.fields.some((field) => isPicture(field) && takesAddress(field)));

/**
 * What carries a job on: run at once when nothing more has to be said, else in the form.
 * @param {All} all @param {Job} job @param {number} place @param {Hands} hands
 */
function carriers(all, job, place, hands) {
  const able = (/** @type {Operation} */ one) =>
    !ELSEWHERE.has(/** @type {string} */ (one.name.split(".").pop())) && !maskOf(one);
  return followers(all, job)
    .filter(able)
    .map((one) => {
      /** @type {Values} */
      const request = { [/** @type {Field} */ (jobField(one)).name]: job.jobId };
      const which = placeField(one);
      if (which) request[which.name] = place;
      const prompt = promptOf(one);
      const unsaid = (/** @type {Field} */ field) =>
        field.required && field.default === undefined && request[field.name] === undefined;
      const open = one.fields.some(unsaid);
      if (prompt) request[prompt.name] = words(job);
      const go = () => (open ? hands.prepare(one, request) : hands.follow(one.name, request));
      return { name: one.name, text: deed(one.name), operation: open ? "" : one.name, request, go };
    });
}

/**
 * What can be done with one piece. `hands` are those of the page: `follow` submits, `prepare` fills the form in, `use`
 * and `animate` take the piece along, `repaint` opens the painter. @returns {{ own: Deed[], edges: Deed[], whole:
 * Deed[], onward: Deed[] }}
 * @param {All} all @param {Piece} piece @param {Hands} hands
 */
export function deedsOf(all, piece, hands) {
  const { job, place } = piece;
  const { quarters, edges, whole } = sorted(job);
  const action = /** @type {Operation} */ (
    followers(all, job).find((one) => one.fields.some((field) => field.name === "action"))
  );
  const act = (/** @type {{ name: string, text: string }} */ { name, text }) => {
    const several = /^(variation|reroll)/.test(name) ? { getUImages: true } : {};
    const request = { [/** @type {Field} */ (jobField(action)).name]: job.jobId, action: name, ...several };
    return {
      name,
      text,
      title: t(`act.${name}`),
      operation: action.name,
      request,
      go: () => hands.follow(action.name, request),
    };
  };
  const onward = [];
  if (isVideo(piece.file)) onward.push(...carriers(all, job, place, hands));
  if (isStill(piece)) {
    if (!piece.quarter && hands.repaint && repainter(all, job)) {
      onward.push({ name: "repaint", text: t("repaint"), ...repainting(all, piece), go: () => hands.repaint?.(piece) });
    }
    if (mover(all)) onward.push({ name: "animate", text: t("animate"), go: () => hands.animate(piece) });
    onward.push({ name: "use", text: t("useInput"), go: () => hands.use(piece) });
  }
  return {
    own: action ? (quarters[place] || []).map(act) : [],
    edges: action ? edges.map(act) : [],
    whole: action ? whole.map(act) : [],
    onward,
  };
}

/**
 * A request with which the price of repainting can be asked: what is not painted and not sent yet is as in the example,
 * but for the mask of an earlier result, which has to be as large as that is.
 * @param {All} all @param {Piece} piece
 */
function repainting(all, { job, file }) {
  const one = /** @type {Operation} */ (repainter(all, job));
  const [mask, prompt] = [maskOf(one), promptOf(one)].map((field) => /** @type {Field} */ (field).name);
  const link = one.follows && jobField(one);
  const needed = one.fields.filter((field) => field.required && field.default === undefined);
  const example = Object.fromEntries(
    needed.map((field) => [field.name, one.example[field.name] ?? field.options?.[0]]),
  );
  const request = { ...example, [mask]: one.example[mask], [prompt]: words(job) };
  if (!link) return { operation: one.name, request };
  request[link.name] = job.jobId;
  const whole = async () => ({ ...request, [mask]: await blankMask(file.width, file.height) });
  return { operation: one.name, request, whole };
}
