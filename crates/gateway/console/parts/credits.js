// What an account has: a bar for each credit, in the order in which they are spent, and one for what never ends.
import { html, useEffect, useState } from "../lib.js";
import { t } from "../words.js";
import { count, exactly, when } from "../show.js";
import { get } from "../api.js";

/** @param {Wire.CreditView} row */
const left = (row) => Number(row.left) + Number(row.held);

/** The bars of what is left, and the base. @param {Wire.CreditsView} data */
const rowsOf = (data) => {
  const open = data.credits.filter((row) => left(row) > 0);
  const credits = open.map((row) => ({
    name: row.note || t(`source.${row.source}`),
    source: row.note ? t(`source.${row.source}`) : "",
    left: left(row),
    most: Number(row.amount),
    until: row.expires,
  }));
  const base = Number(data.base) + Number(data.held);
  // An empty base says nothing beside what there is.
  if (credits.length && base <= 0) return credits;
  return [...credits, { name: t("creditBase"), source: "", left: base, most: 0, until: "" }];
};

/** @param {{ row: ReturnType<typeof rowsOf>[number] }} given */
const Line = ({ row }) => html`<li>
  <span class="share-name">${row.name} <span class="dim small">${row.source}</span></span>
  ${
    row.most > 0 &&
    html`<progress max=${row.most} value=${row.left} aria-label=${`${row.name}: ${count(row.left)}`}></progress>`
  }
  <span class="number">${count(row.left)}
    <small class="dim"> ${row.most > 0 && t("creditOf", count(row.most))}</small></span>
  <span class="until" title=${exactly(row.until)}>
    ${row.until ? t("creditUntil", when(row.until)) : t("creditNever")}</span></li>`;

/**
 * `path` is where it is asked for; another `seen` has it asked for again.
 * @param {{ path: string, seen?: number, children?: Hole }} given
 */
export function Credits({ path, seen = 0, children = null }) {
  const [data, setData] = useState(/** @type {Wire.CreditsView | null} */ (null));
  useEffect(() => {
    get(path).then(
      (answer) => setData(answer.data),
      () => setData(null),
    );
  }, [path, seen]);
  const ends = data?.credits.some((row) => left(row) > 0);
  if (!ends && !children) return null;
  return html`<section class="card"><header><h2>${t("creditsTitle")}</h2>${children}</header>
    ${
      data &&
      html`<ul class="shares credits" aria-label=${t("creditsTitle")}>
        ${rowsOf(data).map((row, place) => html`<${Line} key=${place} row=${row} />`)}</ul>`
    }</section>`;
}
