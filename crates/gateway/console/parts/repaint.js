// Repaint a region of a result: paint over it, say what should be there, and the operation that can do it is found.
import { html, useRef, useState } from "../lib.js";
import { t } from "../words.js";
import { words } from "../show.js";
import { isPicture, jobField, promptOf, takesAddress } from "../catalogue.js";
import { MaskPainter } from "./mask.js";
import { given, wantsHoles } from "./mask_field.js";
import { carried } from "./picture_field.js";
import { maskOf, repainter } from "./repaint_with.js";

/** @param {{ all: All, piece: Piece, follow: (name: string, request: Values) => void, close: () => void }} given */
export function Repaint({ all, piece, follow, close }) {
  const { job, file } = piece;
  const operation = repainter(all, job);
  const text = useRef(words(job));
  const [problem, setProblem] = useState("");
  if (!operation) return null;
  const mask = /** @type {Field} */ (maskOf(operation));
  const done = async (/** @type {Blob | null} */ blob) => {
    if (!text.current.trim()) {
      setProblem(t("sayWhat"));
      return;
    }
    try {
      const prompt = /** @type {Field} */ (promptOf(operation));
      /** @type {Values} */
      const request = { [prompt.name]: text.current, [mask.name]: await given(mask, /** @type {Blob} */ (blob)) };
      const link = jobField(operation);
      if (operation.follows && link) request[link.name] = job.jobId;
      else {
        const field = /** @type {Field} */ (operation.fields.find(isPicture));
        const picture = await carried(piece, !takesAddress(field));
        request[field.name] = field.type === "array" ? [picture] : picture;
        for (const one of operation.fields) {
          const unsaid = one.required && request[one.name] === undefined && one.options;
          if (unsaid) request[one.name] = one.default ?? one.options?.[0];
        }
      }
      close();
      follow(operation.name, request);
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    }
  };
  return html`<${MaskPainter} url=${file.url} holes=${wantsHoles(mask)} done=${done} close=${close}>
    <div class="field"><label for="repaint-words">${t("instead")}</label>
      <input id="repaint-words" dir="auto" maxlength="2000" value=${text.current}
        onInput=${(event) => {
          text.current = event.target.value;
        }} /></div>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}<//>`;
}
