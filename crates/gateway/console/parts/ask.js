// A small form in a dialog: a few fields, one action, its refusal in place.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { Dialog } from "./dialog.js";

/** `fields`: [{ name, label, type, required, value, options }]; `act` gets an object of what was filled in. */
export function Ask({ title, text, fields, action, act, close }) {
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    const given = {};
    for (const field of fields) {
      const input = event.target.elements[field.name];
      const value = field.type === "checkbox" ? input.checked : input.value.trim();
      if (value === "") continue;
      given[field.name] = field.type === "number" ? Number(value) : value;
    }
    setBusy(true);
    setProblem(null);
    try {
      await act(given);
      close();
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  return html`<${Dialog} close=${close} label=${title}>
    <h2>${title}</h2>${text && html`<p class="dim">${text}</p>`}
    <form onSubmit=${submit}>
      ${fields.map((field) => html`<div class=${`field${problem?.field === field.name ? " wrong" : ""}`}><label for=${`ask-${field.name}`}>${field.label}</label>
        ${field.options
          ? html`<select id=${`ask-${field.name}`} name=${field.name}>${field.options.map((one) => html`<option value=${one}>${one}</option>`)}</select>`
          : html`<input id=${`ask-${field.name}`} name=${field.name} type=${field.type || "text"} step="any" required=${field.required} value=${field.value ?? ""} placeholder=${field.placeholder || ""} autocomplete="off" />`}
      </div>`)}
      ${problem && html`<p class="problem" role="alert">${problem.message}</p>`}
      <div class="row"><span class="space"></span><button type="button" class="button quiet" onClick=${close}>${t("close")}</button><button class="button" disabled=${busy}>${action}</button></div>
    </form>
  <//>`;
}
