// A form made from the description of an operation: every field with its default, its rule and its own kind of input.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { label } from "../show.js";
import { isMain } from "../catalogue.js";
import { PictureField } from "./picture_field.js";
import { Prose } from "./prose.js";

/** Whether the bytes of a picture may stand in the field itself. */
const isInline = (schema) => schema.format !== "uri";

/** The rule of a field in words. */
function rule(field) {
  const { minimum, maximum, maxLength, minItems, maxItems } = field.schema;
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  if (minItems !== undefined && maxItems !== undefined) return `${minItems} to ${maxItems}`;
  if (maxLength !== undefined && maxLength < 2000 && field.widget !== "address") return `at most ${maxLength} characters`;
  return "";
}

const Choice = ({ id, field, value, change }) => html`
  <div class="chips" role="radiogroup" aria-labelledby=${`${id}-label`}>
    ${field.options.filter((one) => one !== null).map((one) => {
      const active = (value ?? field.default) === one;
      return html`<label class=${`chip${active ? " active" : ""}`}><input type="radio" name=${id} checked=${active} onChange=${() => change(one)} />${String(one)}</label>`;
    })}
  </div>`;

function Input({ id, field, value, change, hints, submit }) {
  const { schema } = field;
  if (field.widget === "image" || field.widget === "images") {
    const many = field.type === "array";
    const list = value === undefined || value === null ? [] : [value].flat();
    return html`<${PictureField} id=${id} value=${list} most=${many ? schema.maxItems || 5 : 1} inline=${isInline(field.items || schema)}
      change=${(next) => change(many ? (next.length ? next : undefined) : next[0])} describedBy=${hints} />`;
  }
  if (field.options && field.options.length <= 8) return html`<${Choice} id=${id} field=${field} value=${value} change=${change} />`;
  if (field.options) {
    return html`<select id=${id} value=${value ?? field.default ?? ""} onChange=${(event) => change(event.target.value)}>
      ${!field.required && field.default === undefined && html`<option value=""></option>`}
      ${field.options.map((one) => html`<option value=${one}>${one}</option>`)}</select>`;
  }
  if (field.type === "boolean") {
    return html`<label class="switch"><input id=${id} type="checkbox" checked=${value ?? field.default ?? false} onChange=${(event) => change(event.target.checked)} /><span><${Prose} text=${field.description} /></span></label>`;
  }
  if (field.type === "integer" || field.type === "number") {
    return html`<input id=${id} type="number" inputmode="decimal" min=${schema.minimum} max=${schema.maximum} step=${field.type === "integer" ? 1 : "any"}
      value=${value ?? ""} placeholder=${field.default ?? ""} aria-describedby=${hints}
      onInput=${(event) => change(event.target.value === "" ? undefined : Number(event.target.value))} />`;
  }
  if (field.type === "array" || field.type === "object") {
    return html`<textarea id=${id} rows="2" class="code" placeholder=${field.type === "array" ? "[]" : "{}"} aria-describedby=${hints}
      onChange=${(event) => { try { change(event.target.value.trim() ? JSON.parse(event.target.value) : undefined); event.target.setCustomValidity(""); } catch { event.target.setCustomValidity("must be JSON"); event.target.reportValidity(); } }}>${value ? JSON.stringify(value) : ""}</textarea>`;
  }
  if (field.widget === "prompt") {
    return html`<textarea id=${id} rows="4" maxlength=${schema.maxLength} value=${value ?? ""} aria-describedby=${hints} required=${field.required}
      onInput=${(event) => change(event.target.value || undefined)}
      onKeyDown=${(event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); submit(); } }}></textarea>`;
  }
  return html`<input id=${id} type=${field.widget === "address" ? "url" : "text"} maxlength=${schema.maxLength} value=${value ?? ""} placeholder=${field.default ?? ""}
    aria-describedby=${hints} required=${field.required} onInput=${(event) => change(event.target.value || undefined)} />`;
}

function Row({ operation, field, value, change, problem, submit }) {
  const id = `f-${operation.name}-${field.name}`.replace(/\./g, "-");
  const hint = [field.type === "boolean" ? "" : field.description, rule(field)].filter(Boolean).join(" · ");
  return html`<div class=${`field${problem ? " wrong" : ""}`}>
    <label id=${`${id}-label`} for=${id}>${field.widget === "prompt" ? "What should it show?" : label(field.name)}${field.required ? "" : html`<span class="dim optional"></span>`}</label>
    <${Input} id=${id} field=${field} value=${value} change=${change} hints=${`${id}-hint`} submit=${submit} />
    ${hint && field.widget !== "prompt" && html`<p class="hint" id=${`${id}-hint`}><${Prose} text=${hint} /></p>`}
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
  </div>`;
}

/** Shows the fields; `problem` is a refusal whose field gets its words. */
export function Form({ operation, values, change, problem, submit }) {
  const [open, setOpen] = useState(false);
  const main = operation.fields.filter(isMain);
  const rest = operation.fields.filter((field) => !isMain(field));
  const row = (field) => html`<${Row} key=${field.name} operation=${operation} field=${field} value=${values[field.name]} submit=${submit}
    change=${(value) => change({ ...values, [field.name]: value })} problem=${problem?.field === field.name ? problem.message : ""} />`;
  const hidden = rest.some((field) => problem?.field === field.name);
  return html`${main.map(row)}
    ${rest.length > 0 && html`<button type="button" class="plain accent more" aria-expanded=${open || hidden} onClick=${() => setOpen(!open)}>${open || hidden ? t("fewer") : t("more")}</button>`}
    ${(open || hidden) && rest.map(row)}`;
}
