// A form made from the description of an operation: every field with its default, its rule and its own kind of input.
import { html, useEffect, useRef, useState } from "../lib.js";
import { local, t } from "../words.js";
import { count, fieldName, quotaOf, valueName } from "../show.js";
import { isMain, isMedia, isPicture, promptOf, takesAddress } from "../catalogue.js";
import { PictureField } from "./picture_field.js";
import { later } from "./later.js";
import { Prose } from "./prose.js";

const MaskField = later(() => import("./mask_field.js").then((part) => part.MaskField));

/** The rule of a field in words. @param {Field} field */
function rule(field) {
  const { minimum, maximum, maxLength, minItems, maxItems } = field.schema;
  if (field.options) return "";
  if (minimum !== undefined && maximum !== undefined) return t("fromTo", minimum, maximum);
  // How many at most stands in the field itself.
  if (isMedia(field)) return minItems !== undefined && minItems > 1 ? t("atLeast", minItems) : "";
  if (minItems !== undefined && maxItems !== undefined) return t("fromTo", minItems, maxItems);
  if (maxLength !== undefined && maxLength < 2000 && field.widget !== "address" && field.type === "string")
    return t("atMost", maxLength);
  return "";
}

/**
 * What is said of a field besides its name; of a picture only what it must be, since how it is sent is not asked here.
 * @param {Field} field
 */
function about(field) {
  if (field.type === "boolean") return "";
  if (field.widget === "mask") return "";
  if (isMedia(field)) return field.schema["x-hint"] ? local(field.schema["x-hint"]) : "";
  // Two words say nothing that the name does not say.
  return field.description.split(" ").length > 3 ? local(field.description) : "";
}

/**
 * @param {{ id: string, field: Field, value: Json, change: (next: Json) => void, prices: Record<string, number>,
 * labels: Record<string, string> }} given
 */
const Choice = ({ id, field, value, change, prices, labels }) => html`
  <div class="chips" role="radiogroup" aria-labelledby=${`${id}-label`}>
    ${(field.options || []).map((one) => {
      const active = (value ?? field.default) === one;
      const price = prices?.[String(one)];
      return html`<label class=${`chip${active ? " active" : ""}`}>
        <input type="radio" name=${id} checked=${active} onChange=${() => change(one)} />${valueName(one)}
          ${
            price === undefined
              ? ""
              : html`<span class="chip-price">· ${Number.isNaN(Number(one)) ? count(price) : quotaOf(price)}</span>`
          }
          ${price === undefined && labels?.[one] ? html`<span class="chip-price">· ${labels[one]}</span>` : ""}
            </label>`;
    })}
  </div>`;

/**
 * @param {{ id: string, operation: Operation, field: Field, values: Values, change: (next: Json) => void,
 * hints: string, submit: () => void, prices: Record<string, Record<string, number>>, labels: Record<string,
 * string> }} given
 */
function Input({ id, operation, field, values, change, hints, submit, prices, labels }) {
  const value = values[field.name];
  const { schema } = field;
  if (field.widget === "mask") {
    const picture = operation.fields.find(isPicture);
    const url = picture ? [values[picture.name]].flat()[0] : null;
    return html`<${MaskField} id=${id} field=${field} url=${url} value=${value} change=${change}
      describedBy=${hints} />`;
  }
  if (isMedia(field)) {
    const many = field.type === "array";
    const list = value === undefined || value === null ? [] : [value].flat();
    const listed = (/** @type {Json} */ now) => (now === undefined || now === null ? [] : [now].flat());
    const kept = (/** @type {Json} */ next) => (many ? (next.length ? next : undefined) : next[0]);
    return html`<${PictureField} id=${id} value=${list} most=${many ? schema.maxItems || 5 : 1}
      copied=${!takesAddress(field)} video=${field.widget === "video"}
      change=${(edit) => change((/** @type {Json} */ now) => kept(edit(listed(now))))} describedBy=${hints} />`;
  }
  if (field.options && field.options.length <= 8)
    return html`<${Choice} id=${id} field=${field} value=${value}
    change=${change} prices=${prices?.[field.name]} labels=${labels} />`;
  if (field.options) {
    return html`<select id=${id} value=${value ?? field.default ?? ""}
      onChange=${(event) => change(event.target.value || undefined)}>
      ${field.default === undefined && html`<option value="">${field.required ? t("choose") : ""}</option>`}
      ${field.options.map(
        (one) => html`<option value=${one}>${[valueName(one), labels?.[one]].filter(Boolean).join(" · ")}</option>`,
      )}
          </select>`;
  }
  if (field.type === "boolean") {
    return html`<label class="switch">
      <input id=${id} type="checkbox" checked=${value ?? field.default ?? false}
        onChange=${(event) => change(event.target.checked)} />
          <span><${Prose} text=${local(field.description)} /></span></label>`;
  }
  if (field.type === "integer" || field.type === "number") {
    return html`<input id=${id} type="number" inputmode="decimal" min=${schema.minimum} max=${schema.maximum}
      step=${field.type === "integer" ? 1 : "any"}
      value=${value ?? ""} placeholder=${field.default ?? t("any")} aria-describedby=${hints} required=${field.required}
      onInput=${(event) => change(event.target.value === "" ? undefined : Number(event.target.value))} />`;
  }
  if (field.type === "array" || field.type === "object") {
    return html`<textarea id=${id} rows="2" class="code" placeholder=${field.type === "array" ? "[]" : "{}"}
      aria-describedby=${hints}
      onChange=${(event) => {
        try {
          change(event.target.value.trim() ? JSON.parse(event.target.value) : undefined);
          event.target.setCustomValidity("");
        } catch {
          event.target.setCustomValidity(t("mustBeJson"));
          event.target.reportValidity();
        }
      }}>${value ? JSON.stringify(value) : ""}</textarea>`;
  }
  if (field.widget === "prompt") {
    return html`<textarea id=${id} rows="4" dir="auto" maxlength=${schema.maxLength} value=${value ?? ""}
      aria-describedby=${hints} required=${field.required}
      onInput=${(event) => change(event.target.value || undefined)}
      onKeyDown=${(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          submit();
        }
      }}></textarea>`;
  }
  return html`<input id=${id} type=${field.widget === "address" ? "url" : "text"} maxlength=${schema.maxLength}
    value=${value ?? ""} placeholder=${field.default ?? (field.widget === "address" ? "https://…" : t("any"))}
    aria-describedby=${hints} required=${field.required}
      onInput=${(event) => change(event.target.value || undefined)} />`;
}

/** Short inputs stand two in a line. @param {Field} field */
const isShort = (field) => !field.options && ["integer", "number"].includes(field.type);

/**
 * @param {{ operation: Operation, field: Field, values: Values, change: (next: Json) => void, problem: string,
 * submit: () => void, prices: Record<string, Record<string, number>>, between: Hole, note: string,
 * labels: Record<string, string> }} given
 */
function Row({ operation, field, values, change, problem, submit, prices, between, note, labels }) {
  const id = `f-${operation.name}-${field.name}`.replace(/\./g, "-");
  const hint = [about(field), rule(field), note].filter(Boolean).join(" · ");
  return html`<div class=${`field${problem ? " wrong" : ""}${isShort(field) ? " short" : ""}`}>
    <label id=${`${id}-label`} for=${id}>${field.widget === "prompt" ? t("whatShow") : fieldName(field.name)}</label>
    <${Input} id=${id} operation=${operation} field=${field} values=${values} change=${change} hints=${`${id}-hint`}
      submit=${submit} prices=${prices} labels=${labels} />
    ${field.widget === "prompt" && between}
    ${hint && field.widget !== "prompt" && html`<p class="hint" id=${`${id}-hint`}><${Prose} text=${hint} /></p>`}
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
  </div>`;
}

/** How a field of a form is shown: with its own part of the values, and its own refusal. @param {FormGiven} given */
const rowOf =
  ({ operation, values, change, problem, submit, prices, between, notes = {}, labels = {} }) =>
  (/** @type {Field} */ field) =>
    html`<${Row} key=${field.name} operation=${operation} field=${field} values=${values}
    submit=${submit} prices=${prices} between=${between} note=${notes[field.name]} labels=${labels[field.name]}
    change=${(value) =>
      change((/** @type {Values} */ old) => ({
        ...old,
        [field.name]: typeof value === "function" ? value(old[field.name]) : value,
      }))}
    problem=${problem && problem.field === field.name ? problem.message : ""} />`;

/** The prompt of a form, which comes before everything else; `between` stands below it. @param {FormGiven} given */
export const Prompt = (given) => {
  const field = promptOf(given.operation);
  return field ? html`<div class="fields">${rowOf(given)(field)}</div>` : null;
};

/**
 * Shows the other fields; `problem` is a refusal whose field gets its words, `notes` stand below their fields. `change`
 * gets a function from the values as they are by then to the new ones.
 * @param {FormGiven} given
 */
export function Form(given) {
  const { operation, problem } = given;
  const [open, setOpen] = useState(false);
  /** @type {Ref<HTMLElement>} */
  const toggle = useRef(null);
  // What opens is seen: the page, or the form in it, moves so far that the button stands at its upper edge.
  useEffect(() => {
    if (open) toggle.current?.scrollIntoView({ block: "start", behavior: "smooth" });
  }, [open]);
  const fields = operation.fields.filter((field) => field !== promptOf(operation));
  const main = fields.filter(isMain);
  const rest = fields.filter((field) => !isMain(field));
  const row = rowOf({ ...given, between: null });
  const shown = open || rest.some((field) => problem?.field === field.name);
  return html`<div class="fields">${main.map(row)}</div>
    ${
      rest.length > 0 &&
      html`<button type="button" ref=${toggle} class="plain accent more" aria-expanded=${shown}
        onClick=${() => setOpen(!open)}>${shown ? t("fewer") : t("more")}</button>`
    }
    ${shown && html`<div class="fields">${rest.map(row)}</div>`}`;
}
