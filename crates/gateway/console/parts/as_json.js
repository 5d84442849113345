// The form as JSON: the request as it will be sent, which may be changed here too, and the call in several languages.
import { html, useEffect, useState } from "../lib.js";
import { t } from "../words.js";
import { Snippets } from "./copy_as.js";

/** @param {Values} values */
const shownAs = (values) => JSON.stringify(values, null, 2);

/**
 * `change` gets the whole request.
 * @param {{ operation: Operation, values: Values, change: (next: Values) => void }} given
 */
export function AsJson({ operation, values, change }) {
  const [text, setText] = useState(() => shownAs(values));
  const [problem, setProblem] = useState("");
  // What others put in, as a picture that came up, is shown; what is being typed stays as it is.
  useEffect(() => {
    try {
      if (shownAs(JSON.parse(text)) !== shownAs(values)) setText(shownAs(values));
    } catch {
      /* somebody is in the middle of it */
    }
  }, [values]);
  const typed = (/** @type {On} */ event) => {
    setText(event.target.value);
    try {
      const found = JSON.parse(event.target.value);
      if (!found || typeof found !== "object" || Array.isArray(found)) throw new Error();
      setProblem("");
      change(found);
    } catch {
      setProblem(t("mustBeJson"));
    }
  };
  return html`<div class="as-json"><label for="as-json" class="dim code">POST ${operation.path}</label>
    <textarea id="as-json" class="code" rows="9" spellcheck="false" dir="ltr" value=${text} onInput=${typed}></textarea>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <${Snippets} name=${operation.name} path=${operation.path} request=${values} />
    <p class="dim small">${t("keyFrom")}</p></div>`;
}
