// A field for a mask: painted over the picture of the same form, kept in the form the field takes.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { upload } from "../api.js";
import { takesAddress } from "../catalogue.js";
import { later } from "./later.js";

const MaskPainter = later(() => import("./mask.js").then((part) => part.MaskPainter));

/**
 * Whether the work happens where the mask is transparent; usually it does where the mask is white.
 * @param {Field} field
 */
export const wantsHoles = (field) => field.schema["x-mask"] === "transparent";

/** The mask as the field takes it. @param {Field} field @param {Blob} blob */
export async function given(field, blob) {
  if (takesAddress(field)) return upload(new File([blob], "mask.png", { type: "image/png" }));
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

/**
 * @param {{ id: string, field: Field, url: string | null, value: string | undefined,
 * change: (next: string | undefined) => void, describedBy: string }} given
 */
export function MaskField({ id, field, url, value, change, describedBy }) {
  const [painting, setPainting] = useState(false);
  const [problem, setProblem] = useState("");
  const done = async (/** @type {Blob} */ blob) => {
    setPainting(false);
    try {
      change(await given(field, blob));
      setProblem("");
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    }
  };
  return html`<div class="row">
      <button type="button" id=${id} class="button quiet" disabled=${!url} aria-describedby=${describedBy}
        onClick=${() => setPainting(true)}>${value ? t("paintAgain") : t("paintMask")}</button>
      ${
        value
          ? html`<span class="ok">✓ ${t("painted")}</span>
        <button type="button" class="plain accent" onClick=${() => change(undefined)}>${t("remove")}</button>`
          : html`<span class="hint">${url ? "" : t("pictureFirst")}</span>`
      }
    </div>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      painting &&
      html`<${MaskPainter} url=${url} holes=${wantsHoles(field)} close=${() => setPainting(false)} done=${done} />`
    }`;
}
