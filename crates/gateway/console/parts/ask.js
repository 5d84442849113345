// A small form in a dialog: a few fields, one action, its refusal in place.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { Dialog } from "./dialog.js";

/**
 * What a field begins with is said once: drawn anew, as after a refusal, it keeps what was typed.
 * @param {{ field: AskField }} given
 */
function Input({ field }) {
  const id = `ask-${field.name}`;
  if (field.type === "checks") {
    return html`<div class="chips" id=${id}>
      ${(field.options || []).map(
        (one) => html`<label class="switch">
          <input type="checkbox" name=${field.name} value=${one} defaultChecked=${(field.value || []).includes(one)} />
            <span>${field.names ? field.names(one) : one}</span></label>`,
      )}</div>`;
  }
  if (field.type === "checkbox")
    return html`<input id=${id} name=${field.name} type="checkbox"
    defaultChecked=${Boolean(field.value)} />`;
  if (field.options) {
    return html`<select id=${id} name=${field.name}>${!field.required && html`<option value=""></option>`}
      ${field.options.map(
        (one) => html`<option value=${one} selected=${one === field.value}>
          ${field.names ? field.names(one) : one}</option>`,
      )}</select>`;
  }
  if (field.type === "long")
    return html`<textarea id=${id} name=${field.name} rows=${field.rows || 5} dir="auto"
    class=${field.prose ? "" : "code"} required=${field.required}
    placeholder=${field.placeholder || ""}>${field.value ?? ""}</textarea>`;
  return html`<input id=${id} name=${field.name} type=${field.type || "text"} step="any" required=${field.required}
    defaultValue=${field.value ?? ""} placeholder=${field.placeholder || ""} autocomplete="off" />`;
}

/**
 * What was filled in, by field; what was left empty is left out.
 * @param {HTMLFormElement} form @param {AskField[]} fields
 */
export function filledIn(form, fields) {
  /** @type {Values} */
  const given = {};
  const inputs = /** @type {Record<string, Json>} */ (form.elements);
  for (const field of fields) {
    if (field.type === "checks") {
      given[field.name] = [...form.querySelectorAll(`input[name="${field.name}"]:checked`)].map(
        (one) => /** @type {HTMLInputElement} */ (one).value,
      );
      continue;
    }
    const input = inputs[field.name];
    if (!input) continue;
    const value = field.type === "checkbox" ? input.checked : input.value.trim();
    // Emptying a field that had something says that it is to have nothing.
    if (value === "" && field.clears !== undefined && (field.value ?? "") !== "") given[field.name] = field.clears;
    if (value === "") continue;
    given[field.name] = field.type === "number" ? Number(value) : value;
  }
  return given;
}

/** @param {{ fields: AskField[], problem: Refusal | null }} given */
export const Fields = ({ fields, problem }) =>
  fields.map(
    (field) => html`<div key=${field.name}
  class=${`field${problem?.field === field.name ? " wrong" : ""}`}>
  <label for=${`ask-${field.name}`}>${field.label}</label><${Input} field=${field} />
  ${field.hint && html`<p class="hint">${field.hint}</p>`}</div>`,
  );

/**
 * `act` gets an object of what was filled in.
 * @param {{ title: string, text?: string, fields: AskField[], action: string, act: (given: Values) => unknown,
 * close: () => void, danger?: boolean }} given
 */
export function Ask({ title, text = "", fields, action, act, close, danger = false }) {
  const [problem, setProblem] = useState(/** @type {Refusal | null} */ (null));
  const [busy, setBusy] = useState(false);
  const submit = async (/** @type {On} */ event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      await act(filledIn(event.target, fields));
      close();
    } catch (error) {
      setProblem(/** @type {Refusal} */ (error));
      setBusy(false);
    }
  };
  return html`<${Dialog} close=${close} label=${title}>
    <h2>${title}</h2>${text && html`<p class="dim">${text}</p>`}
    <form onSubmit=${submit}>
      <${Fields} fields=${fields} problem=${problem} />
      ${problem && html`<p class="problem" role="alert">${problem.message}</p>`}
      <div class="row"><span class="space"></span><button type="button" class="button quiet" onClick=${close}>
        ${t("leave")}</button><button class=${`button${danger ? " danger" : ""}`} disabled=${busy}>${action}</button>
          </div>
    </form>
  <//>`;
}
