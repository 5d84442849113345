// What the library can be narrowed to beside words and kinds: what was done, by which model, and where somebody put it.
import { html, useEffect, useState } from "../lib.js";
import { local, t } from "../words.js";
import { deed } from "../show.js";
import { get } from "../api.js";
import { FAVOURITES } from "./shelves.js";

/**
 * The operations of a family, as a part of a list to choose from.
 * @param {{ all: All, family: string, chosen: string | undefined }} given
 */
const Family = ({ all, family, chosen }) => html`<optgroup label=${local(family)}>
  ${all.operations
    .filter((one) => one.family === family)
    .map((one) => html`<option value=${one.name} selected=${one.name === chosen}>${deed(one.name)}</option>`)}
</optgroup>`;

/**
 * `change` gets what is to be different in the address.
 * @param {{ all: All | null, shelves: Shelves, query: Record<string, string>, change: (part: Record<string,
 * string>) => void }} given
 */
export function LibraryFilters({ all, shelves, query, change }) {
  const [models, setModels] = useState(/** @type {string[] | null} */ (null));
  useEffect(() => {
    get("/account/v1/models").then(
      ({ data }) => setModels(data.map((one) => one.name)),
      () => setModels([]),
    );
  }, []);
  const picked = (/** @type {string} */ name) => (/** @type {On} */ event) =>
    change({ [name]: event.target.value, shelf: "" });
  const known = models && query.model && !models.includes(query.model) ? [query.model, ...models] : models || [];
  return html`<div class="row filters" role="group" aria-label=${t("narrow")}>
    ${
      all &&
      html`<select aria-label=${t("filterDone")} value=${query.op || ""} onChange=${picked("op")}>
        <option value="">${t("filterDone")}</option>
        ${all.families.map((family) => html`<${Family} all=${all} family=${family} chosen=${query.op} />`)}</select>`
    }
    ${
      known.length > 0 &&
      html`<select aria-label=${t("filterModel")} value=${query.model || ""} onChange=${picked("model")}>
        <option value="">${t("filterModel")}</option>
        ${known.map((name) => html`<option value=${name} selected=${name === query.model}>${name}</option>`)}</select>`
    }
    <select aria-label=${t("filterShelf")} value=${query.shelf || ""}
      onChange=${(event) => change({ show: "", q: "", op: "", model: "", shelf: event.target.value })}>
      <option value="">${t("filterShelf")}</option>
      <option value=${FAVOURITES} selected=${query.shelf === FAVOURITES}>★ ${t("favourites")}</option>
      ${shelves.names.map(
        (name) => html`<option value=${name} selected=${query.shelf === name}>${name}</option>`,
      )}</select>
  </div>`;
}
