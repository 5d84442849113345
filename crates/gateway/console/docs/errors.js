// Every refusal by its code, with what to do about it.
import { html } from "../lib.js";
import { maybe, t } from "../words.js";
import { Prose } from "../parts/prose.js";

/**
 * Every code with its status and meaning, as the service's description lists them.
 * @param {Description} api @returns {string[][]}
 */
export const codesOf = (api) =>
  api.info.description
    .split("\n")
    .filter((/** @type {string} */ line) => line.startsWith("| `"))
    .map((/** @type {string} */ line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim().replace(/^`(.*)`$/, "$1")),
    );

/** @param {{ api: Description }} given */
export function Errors({ api }) {
  const rows = codesOf(api);
  return html`<article class="docs-page"><h1>${t("docs.errors")}</h1>
    <p class="dim docs-lead">${t("docs.errorsText")}</p>
    <pre tabindex="0">
      <code>${
        '{ "status": "FAILED", "code": "invalid_parameter", "param": "mode", "message": "mode: must be one of ' +
        '…", "data": null }'
      }</code></pre>
    <section class="card flush">
      <div class="table-frame stacks" tabindex="0" role="region" aria-label=${t("docs.errors")}>
        <table><thead><tr><th scope="col">${t("docs.code")}</th><th scope="col">HTTP</th>
          <th scope="col">${t("docs.meaning")}</th></tr></thead>
    <tbody>${rows.map(
      ([name, status, meaning]) => html`<tr id=${name}><td><a class="code" href=${`#${name}`}>${name}</a></td>
        <td data-title="HTTP">${status}</td><td class="told-in-full"><${Prose} text=${meaning} />
          ${maybe(`fix.${name}`) ? html` <span class="dim">${t(`fix.${name}`)}</span>` : ""}</td></tr>`,
    )}</tbody>
            </table></div></section></article>`;
}
