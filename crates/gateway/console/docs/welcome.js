// The first page of the reference: the idea in one call, and what can be made.
import { html } from "../lib.js";
import { local, t } from "../words.js";
import { tile } from "../show.js";
import { Prose } from "../parts/prose.js";
import { Snippets } from "../parts/copy_as.js";

/** @param {{ api: Description, groups: string[], slug: (title: string) => string, operations: Described[] }} given */
export function Welcome({ api, groups, slug, operations }) {
  const first = operations.find(
    (one) => one["x-makes"] && one.requestBody?.content?.["application/json"]?.example?.prompt,
  );
  const [intro] = api.info.description.split("\n\n");
  return html`<article class="docs-page"><h1>${t("docs.title")}</h1>
    <p class="docs-lead">${api.info.summary} <span class="dim">${t("docs.version", api.info.version)}</span></p>
    <p class="docs-lead dim"><${Prose} text=${intro} /></p>
    ${
      first &&
      html`<section class="card"><h2>${t("docs.firstCall")}</h2>
        <p class="dim">${t("docs.firstCallText")} <code>${first.path}</code></p>
          <${Snippets} name=${first.operationId} path=${first.path}
            request=${first.requestBody?.content?.["application/json"].example} /></section>`
    }
    <ul class="docs-families">
      ${groups.map(
        (one) => html`<li><a href=${`/docs/${slug(one)}`}>
          <img src=${tile(one)} alt="" width="208" height="140" onError=${(event) => {
            event.target.hidden = true;
          }} />
            <b>${local(one)}</b></a></li>`,
      )}</ul></article>`;
}
