// One page of the reference: a family with a picture of what it makes, and each of its operations.
import { html } from "../lib.js";
import { local, t } from "../words.js";
import { deed, tile } from "../show.js";
import { Prose } from "../parts/prose.js";
import { Operation } from "./operation.js";

/** Two methods of one path that do the same are told once. @param {Described[]} operations */
function told(operations) {
  /** @type {Described[]} */
  const all = [];
  for (const one of operations) {
    const same = all.find((other) => other.path === one.path && other.summary === one.summary);
    if (same) same.also = [...(same.also || []), one.method];
    else all.push({ ...one });
  }
  return all;
}

/** @param {{ title: string, operations: Described[], resolve: (schema: Schema) => Schema, makes: boolean }} given */
export function Group({ title, operations: every, resolve, makes }) {
  const operations = told(every);
  return html`<article class="docs-page">
    <header class="docs-head">
      ${
        makes &&
        html`<img src=${tile(title)} alt="" width="208" height="140"
          onError=${(event) => {
            event.target.hidden = true;
          }} />`
      }
      <div><h1>${local(title)}</h1><p class="dim">${t("docs.count", operations.length)}</p>
      <ul class="docs-toc">
        ${operations.map(
          (one) => html`<li><a href=${`#${one.operationId}`}>
            ${one["x-makes"] ? deed(one.operationId) : html`<${Prose} text=${one.summary.replace(/\.$/, "")} />`}
              </a> <span class="code dim">${one.method.toUpperCase()} ${one.path}</span></li>`,
        )}</ul></div></header>
    ${operations.map((one) => html`<${Operation} key=${one.operationId} one=${one} resolve=${resolve} />`)}
  </article>`;
}
