// Tables and pages of rows, the same everywhere.
import { html, useEffect, useRef, useState } from "../lib.js";
import { t } from "../words.js";
import { count, exactly, when } from "../show.js";
import { get } from "../api.js";
import { START, asked, onward, totalOf } from "./onward.js";

/** A time, exact for whoever points at it. @param {{ at: string | null | undefined }} given */
export const Time = ({ at }) =>
  at
    ? html`<time title=${exactly(at)}>
  ${when(at)}</time>`
    : html`<span class="dim">–</span>`;

/**
 * A table whose columns say how a row is shown.
 * @template {{ id?: string, jobId?: string }} R @param {{ columns: Column<R>[], rows: R[], empty?: string,
 * caption: string }} given
 */
export const Table = ({ columns, rows, empty = "", caption }) =>
  rows.length === 0
    ? html`<p class="empty small">${empty || t("noneYet")}</p>`
    : html`<div class=${`table-frame${columns.length > 3 ? " stacks" : ""}`} tabindex="0" role="region"
    aria-label=${caption}><table><caption class="visually-hidden">${caption}</caption>
      <thead><tr>
        ${columns.map(
          (column) => html`<th scope="col" class=${column.number ? "number" : ""}>
            ${column.title || html`<span class="visually-hidden">${t("actions")}</span>`}</th>`,
        )}</tr></thead>
      <tbody>${rows.map(
        (row, place) => html`<tr key=${row.id || row.jobId || place}>
          ${columns.map(
            (column) =>
              html`<td class=${`${column.number ? "number" : ""}${column.title ? "" : " acts"}`}
                data-title=${column.title}><div class="cell">${column.show(row)}</div></td>`,
          )}</tr>`,
      )}</tbody></table>
                  </div>`;

/** @type {{ rows: any[] | null, total: number, problem: string, way: Way | null }} */
const NOTHING = { rows: null, total: 0, problem: "", way: null };

/** Rows of a page of the service, with more on request. `again` reads them anew. @param {string} path */
export function usePages(path, limit = 20) {
  const [state, setState] = useState(NOTHING);
  const read = (/** @type {Way} */ way, /** @type {any[]} */ rows) =>
    get(`${path}${path.includes("?") ? "&" : "?"}limit=${limit}${asked(way)}`).then(
      (answer) =>
        path === latest.current &&
        setState({
          rows: [...rows, ...answer.data],
          total: totalOf(answer, way),
          problem: "",
          way: onward(answer, way, limit),
        }),
      (error) => setState((old) => ({ ...old, rows: old.rows || [], problem: error.message })),
    );
  // What is there stays until the answer to other words comes; that to earlier words is not looked at.
  const latest = useRef("");
  useEffect(() => {
    latest.current = path;
    const timer = setTimeout(() => read(START, []), state.rows && path.includes("q=") ? 220 : 0);
    return () => clearTimeout(timer);
  }, [path]);
  return {
    ...state,
    again: () => read(START, []),
    more: () => read(/** @type {Way} */ (state.way), state.rows || []),
    hasMore: Boolean(state.rows && state.way),
  };
}

/** The same, whole. @param {{ pages: Pages, columns: Column<any>[], empty?: string, caption: string }} given */
export const Paged = ({ pages, columns, empty = "", caption }) => html`
  ${pages.problem && html`<p class="problem" role="alert">${pages.problem}</p>`}
  ${!pages.rows && html`<div class="waiting" aria-busy="true"></div>`}
  ${pages.rows && html`<${Table} columns=${columns} rows=${pages.rows} empty=${empty} caption=${caption} />`}
  ${
    pages.hasMore &&
    html`<p class="row foot"><button class="button quiet" onClick=${pages.more}>${t("loadMore")}</button>
      <span class="dim">${count(pages.rows?.length)} / ${count(pages.total)}${pages.way?.after ? "+" : ""}</span></p>`
  }`;
