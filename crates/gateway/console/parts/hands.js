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

/** The operation that takes a picture in the form: that of the family if it has one. */
export function formTaker(all, job) {
  const family = all.operations.find((one) => one.name === job.operation)?.family;
  return taker(all, family);
}

/** The values of a form with a piece in its field for pictures. */
export async function withPiece(operation, piece, values = {}) {
  const field = operation.fields.find(isPicture);
  const picture = await carried(piece, !takesAddress(field));
  return { ...values, [field.name]: field.type === "array" ? [picture] : picture };
}

/** `told` is what there is to say about the last deed; `removed` is called with the job that is gone. */
export function useHands(all, owner, { removed = (_) => {} } = {}) {
  const [told, setTold] = useState(null);
  const bad = (error) => setTold({ bad: true, text: error.message });
  const prepare = (operation, values) => {
    keepDraft(owner, operation.name, values);
    go("create", { op: operation.name });
  };
  const follow = async (name, request) => {
    setTold(null);
    try {
      const { path } = all.operations.find((one) => one.name === name);
      const answer = await submit(path, request, () => setTold({ bad: true, text: t("offline") }));
      setTold({ text: t("begun"), job: answer.data?.jobId });
    } catch (error) {
      bad(error);
    }
  };
  const use = (piece) =>
    withPiece(formTaker(all, piece.job), piece).then((values) => prepare(formTaker(all, piece.job), values), bad);
  const animate = (piece) => {
    const operation = mover(all);
    const prompt = promptOf(operation);
    return withPiece(operation, piece, prompt ? { [prompt.name]: words(piece.job) } : {}).then(
      (values) => prepare(operation, values),
      bad,
    );
  };
  const drop = async (job) => {
    await remove(`/jobs/v1/${encodeURIComponent(job.jobId)}`);
    removed(job);
  };
  return { told, hands: all && { follow, prepare, use, animate, drop } };
}
