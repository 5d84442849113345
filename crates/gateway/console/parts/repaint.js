// Repaint a region of a result: paint over it, say what should be there, and the operation that can do it is found.
import { html, useRef, useState } from "../lib.js";
import { t } from "../words.js";
import { words } from "../show.js";
import { followers, isPicture, jobField, promptOf, takesAddress } from "../catalogue.js";
import { MaskPainter } from "./mask.js";
import { given, wantsHoles } from "./mask_field.js";
import { carried } from "./picture_field.js";

const mask = (operation) => operation.fields.find((field) => field.widget === "mask");

/** The follow-up of the job's own family where its picture allows one, otherwise whatever takes a picture and a mask. */
export function repainter(all, job) {
  const own = followers(all, job).find(mask);
  const whole = (job.result?.data?.components || []).some((name) => !/[1-4]$|^reroll$/.test(name));
  if (own && whole) return own;
  return all.operations.find((one) => !one.follows && mask(one) && one.fields.some(isPicture));
}

export function Repaint({ all, job, file, follow, close }) {
  const operation = repainter(all, job);
  const text = useRef(words(job));
  const [problem, setProblem] = useState("");
  if (!operation) return null;
  const done = async (blob) => {
    if (!text.current.trim()) { setProblem(t("sayWhat")); return; }
    try {
      const request = { [promptOf(operation).name]: text.current, [mask(operation).name]: await given(mask(operation), blob) };
      const link = jobField(operation);
      if (operation.follows && link) request[link.name] = job.jobId;
      else {
        const field = operation.fields.find(isPicture);
        const picture = await carried(file.url, !takesAddress(field));
        request[field.name] = field.type === "array" ? [picture] : picture;
        for (const one of operation.fields) if (one.required && request[one.name] === undefined && one.options) request[one.name] = one.default ?? one.options[0];
      }
      close();
      follow(operation.name, request);
    } catch (error) {
      setProblem(error.message);
    }
  };
  return html`<${MaskPainter} url=${file.url} holes=${wantsHoles(mask(operation))} done=${done} close=${close}>
    <div class="field"><label for="repaint-words">${t("instead")}</label><input id="repaint-words" maxlength="2000" value=${text.current} onInput=${(event) => { text.current = event.target.value; }} /></div>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}<//>`;
}
