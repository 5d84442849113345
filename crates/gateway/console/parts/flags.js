// The option flags of a prompt as controls: shape, seed, pictures to go by. What is chosen stands in the prompt, where
// whoever knows the flags may write them as before.
import { html } from "../lib.js";
import { t } from "../words.js";
import { PictureField } from "./picture_field.js";

const SHAPES = ["1:1", "3:2", "2:3", "16:9", "9:16"];
/** So many pictures may stand at the beginning, or lend their style. */
const MOST_PICTURES = 4;

/** @param {string} word */
const isAddress = (word) => word.startsWith("http://") || word.startsWith("https://");
/** @param {string} word */
const isFlag = (word) => word.startsWith("--");
/** @param {string} text */
const wordsOf = (text) => (text || "").split(/\s+/).filter(Boolean);
/** @param {string} text */
const shapeOf = (text) => valuesOf(text, "ar")[0] || "1:1";

/** What stands behind a flag, up to the next one. @param {string} text @param {string} name */
function valuesOf(text, name) {
  const words = wordsOf(text);
  const at = words.indexOf(`--${name}`);
  if (at < 0) return [];
  const rest = words.slice(at + 1);
  const end = rest.findIndex(isFlag);
  return end < 0 ? rest : rest.slice(0, end);
}

/**
 * The prompt with other values behind a flag; without any, without the flag.
 * @param {string} text @param {string} name @param {string[]} values
 */
export function withFlag(text, name, values) {
  const words = wordsOf(text);
  const at = words.indexOf(`--${name}`);
  const flag = values.length ? [`--${name}`, ...values] : [];
  if (at < 0) return flag.length ? [(text || "").trimEnd(), ...flag].join(" ").trimStart() : text;
  words.splice(at, 1 + valuesOf(text, name).length, ...flag);
  return words.join(" ");
}

/** The addresses of pictures at the beginning of a prompt. @param {string} text */
function picturesOf(text) {
  const words = wordsOf(text);
  const end = words.findIndex((word) => !isAddress(word));
  return end < 0 ? words : words.slice(0, end);
}

/** @param {string} text @param {string[]} urls */
export const withPictures = (text, urls) => [...urls, ...wordsOf(text).slice(picturesOf(text).length)].join(" ");

/** Which shape a picture will have, drawn small. @param {{ shape: string }} given */
const Shape = ({ shape }) => {
  const [wide, high] = shape.split(":").map(Number);
  const scale = 14 / Math.max(wide, high);
  return html`<span class="shape" aria-hidden="true"
    style=${{ width: `${Math.round(wide * scale)}px`, height: `${Math.round(high * scale)}px` }}></span>`;
};

/**
 * `known` are the flags that the prompt takes; `change` gets a function from the prompt to the new one.
 * @param {{ known: string[], text: string, change: (edit: (now: string) => string | undefined) => void }} given
 */
export function Flags({ known, text, change }) {
  const shape = shapeOf(text);
  const put = (/** @type {string} */ name, /** @type {string[]} */ values) =>
    change((now) => withFlag(now, name, values) || undefined);
  const pictures = (
    /** @type {string} */ id,
    /** @type {string} */ label,
    /** @type {string[]} */ value,
    /** @type {(now: string, edit: (old: string[]) => string[]) => string} */ set,
  ) => html`<div class="field"><label for=${id}>${label}</label>
    <${PictureField} id=${id} value=${value} most=${MOST_PICTURES} copied=${false}
      change=${(edit) => change((now) => set(now, edit) || undefined)} /></div>`;
  const styles = (/** @type {string} */ now) => valuesOf(now, "sref").filter(isAddress);
  const asked = known.includes("image") || known.includes("sref");
  return html`<div class="fields flags">
    ${
      known.includes("ar") &&
      html`<div class="field"><span class="label" id="flag-shape">${t("shape")}</span>
      <div class="chips" role="radiogroup" aria-labelledby="flag-shape">
        ${(SHAPES.includes(shape) ? SHAPES : [...SHAPES, shape]).map(
          (one) => html`<label class=${`chip${one === shape ? " active" : ""}`}>
            <input type="radio" name="flag-shape" checked=${one === shape}
              onChange=${() => put("ar", one === "1:1" ? [] : [one])} /><${Shape} shape=${one} />${one}</label>`,
        )}</div></div>`
    }
    ${
      known.includes("seed") &&
      html`<div class="field short"><label for="flag-seed">${t("field.seed")}</label>
      <input id="flag-seed" type="number" min="0" max="4294967295" step="1" placeholder=${t("any")}
        value=${valuesOf(text, "seed")[0] ?? ""}
        onChange=${(event) => put("seed", event.target.value === "" ? [] : [event.target.value])} /></div>`
    }
    ${
      asked &&
      html`<details class="references"><summary>${t("references")}</summary>
      ${
        known.includes("image") &&
        pictures("flag-image", t("goBy"), picturesOf(text), (now, edit) => withPictures(now, edit(picturesOf(now))))
      }
      ${
        known.includes("sref") &&
        pictures("flag-sref", t("styleOf"), styles(text), (now, edit) => withFlag(now, "sref", edit(styles(now))))
      }</details>`
    }</div>`;
}
