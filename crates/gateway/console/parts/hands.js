// What pages that only show results do with them: a follow-up is submitted and told of, everything else is taken along
// into the form of the first page.
import { useState } from "../lib.js";
import { t } from "../words.js";
import { remove, submit } from "../api.js";
import { go } from "../route.js";
import { isPicture, promptOf, taker, takesAddress } from "../catalogue.js";
import { keepDraft } from "../draft.js";
import { mover } from "./deeds.js";
import { carried } from "./picture_field.js";
import { words } from "../show.js";

/**
 * The operation that takes a picture in the form: that of the family if it has one.
 * @param {All} all @param {Job} job
 */
export function formTaker(all, job) {
  const family = all.operations.find((one) => one.name === job.operation)?.family;
  return taker(all, family);
}

/** The values of a form with a piece in its field for pictures. @param {Operation} operation @param {Piece} piece */
export async function withPiece(operation, piece, values = {}) {
  const field = /** @type {Field} */ (operation.fields.find(isPicture));
  const picture = await carried(piece, !takesAddress(field));
  return { ...values, [field.name]: field.type === "array" ? [picture] : picture };
}

/**
 * `told` is what there is to say about the last deed; `removed` is called with the job that is gone.
 * @param {All | null} all @param {string} owner @param {{ removed?: (job: Job) => void }} [given]
 */
export function useHands(all, owner, { removed = (_) => {} } = {}) {
  // Without it there are no hands.
  const some = /** @type {All} */ (all);
  const [told, setTold] = useState(/** @type {Told | null} */ (null));
  const bad = (/** @type {Refusal} */ error) => setTold({ bad: true, text: error.message });
  const prepare = (/** @type {Operation} */ operation, /** @type {Values} */ values) => {
    keepDraft(owner, operation.name, values);
    go("create", { op: operation.name });
  };
  const follow = async (/** @type {string} */ name, /** @type {Values} */ request) => {
    setTold(null);
    try {
      const { path } = /** @type {Operation} */ (some.operations.find((one) => one.name === name));
      const answer = await submit(path, request, () => setTold({ bad: true, text: t("offline") }));
      setTold({ text: t("begun"), job: answer.data?.jobId });
    } catch (error) {
      bad(/** @type {Refusal} */ (error));
    }
  };
  const use = (/** @type {Piece} */ piece) =>
    withPiece(formTaker(some, piece.job), piece).then((values) => prepare(formTaker(some, piece.job), values), bad);
  const animate = (/** @type {Piece} */ piece) => {
    const operation = mover(some);
    const prompt = promptOf(operation);
    return withPiece(operation, piece, prompt ? { [prompt.name]: words(piece.job) } : {}).then(
      (values) => prepare(operation, values),
      bad,
    );
  };
  const drop = async (/** @type {Job} */ job) => {
    await remove(`/jobs/v1/${encodeURIComponent(job.jobId)}`);
    removed(job);
  };
  return { told, hands: all && { follow, prepare, use, animate, drop } };
}
