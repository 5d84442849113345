// What a first visitor sees where results will be: samples of what can be made, each of which fills the form in.
import { html } from "../lib.js";
import { local, t } from "../words.js";
import { tile } from "../show.js";
import { promptOf } from "../catalogue.js";
import { first } from "./families.js";

const MOST = 6;

/** Whether an operation can be begun with words alone. @param {Operation} operation */
const easy = (operation) =>
  operation.fields.every(
    (field) => !field.required || field === promptOf(operation) || field.options || field.default !== undefined,
  );

/** A sample of each family that is asked for in words alone. @param {All} all */
function samplesOf(all) {
  const found = all.families.map((family) => {
    const operation = first(all, family);
    const text = operation.example[promptOf(operation)?.name || ""];
    return typeof text === "string" && easy(operation) ? { family, operation, text: local(text) } : null;
  });
  return found.filter((one) => one !== null).slice(0, MOST);
}

/**
 * `choose` gets the operation and the values of a sample.
 * @param {{ all: All, choose: (one: Operation, request: Values) => void }} given
 */
export const Samples = ({ all, choose }) => html`<section class="empty samples" aria-label=${t("samples")}>
  <p class="empty-title">${t("emptyMadeTitle")}</p><p>${t("emptyMade")}</p>
  <ul>${samplesOf(all).map(
    ({ family, operation, text }) => html`<li key=${family}><button type="button" class="sample-of"
      onClick=${() => choose(operation, { [/** @type {Field} */ (promptOf(operation)).name]: text })}>
      <img src=${tile(family)} alt="" width="104" height="70" onError=${(event) => {
        event.target.hidden = true;
      }} />
      <span><b>${local(family)}</b><span class="words" dir="auto">${text}</span></span></button></li>`,
  )}</ul></section>`;
