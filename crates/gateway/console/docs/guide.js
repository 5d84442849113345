// A guide: its own Markdown, drawn here.
import { html, useEffect, useState } from "../lib.js";
import { t } from "../words.js";
import { Markdown } from "./markdown.js";

/** @param {{ name: string }} given */
export function Guide({ name }) {
  const [text, setText] = useState(/** @type {string | null} */ (null));
  const [problem, setProblem] = useState("");
  useEffect(() => {
    fetch(`/docs/${encodeURIComponent(name)}.md`)
      .then(async (answer) => {
        if (!answer.ok || !/markdown/.test(answer.headers.get("content-type") || ""))
          throw new Error(t("docs.noGuide"));
        setText(await answer.text());
      })
      .catch((error) => setProblem(error.message));
  }, [name]);
  if (problem) return html`<p class="empty">${problem}</p>`;
  return text === null
    ? html`<div class="card waiting" aria-busy="true">
    </div>`
    : html`<article class="docs-page prose" lang="en"><${Markdown} text=${text} /></article>`;
}
