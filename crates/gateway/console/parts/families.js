// What to make: families as pictures of what they make, and the ways of the chosen one.
import { html } from "../lib.js";
import { local, t } from "../words.js";
import { deed, tile } from "../show.js";
import { promptOf } from "../catalogue.js";

/** The way to begin with a family: one that needs words and no earlier job, if there is one. */
export function first(all, family) {
  const own = all.operations.filter((one) => one.family === family);
  const free = own.filter((one) => !one.follows);
  const spoken = (one) => one.fields.some((field) => field.required && field.widget === "prompt");
  const easy = (field) => !field.required || field.widget === "prompt" || field.options;
  return (
    free.find((one) => spoken(one) && one.fields.every(easy)) ||
    free.find(spoken) ||
    free.find((one) => promptOf(one)) ||
    free[0] ||
    own[0]
  );
}

export function Operations({ all, family, chosen, choose }) {
  const operations = all.operations.filter(
    (one) => one.family === family && (!one.follows || one.name === chosen.name),
  );
  if (operations.length < 2) return null;
  return html`<div class="chips" role="group" aria-label=${t("way")}>${operations.map(
    (one) => html`
    <button type="button" class=${`chip${one.name === chosen.name ? " active" : ""}`}
      aria-pressed=${one.name === chosen.name}
      onClick=${() => choose(one)} title=${local(one.summary)}>${deed(one.name)}</button>`,
  )}</div>`;
}

/** What a family makes, as a picture of it; one without a picture has its name alone. */
export function Tiles({ all, chosen, choose }) {
  const ofFamily = (family) => all.operations.filter((one) => one.family === family);
  const films = (family) =>
    ofFamily(family).every((one) => one.makes === "video") || first(all, family).makes === "video";
  const makes = (family) => (films(family) ? "video" : "picture");
  const kind = makes(chosen);
  const kinds = ["picture", "video"].filter((one) => all.families.some((family) => makes(family) === one));
  return html`<div class="segments" role="group" aria-label=${t("whatMake")}>${kinds.map(
    (one) => html`
      <button type="button" class=${one === kind ? "active" : ""} aria-pressed=${one === kind}
        onClick=${() => one !== kind && choose(all.families.find((family) => makes(family) === one))}>
        ${t(one === "video" ? "videos" : "pictures")}</button>`,
  )}</div>
    <div class="tiles" role="group" aria-label=${t("family")}>
    ${all.families
      .filter((family) => makes(family) === kind)
      .map(
        (family) => html`
      <button type="button" key=${family} class=${`tile${family === chosen ? " active" : ""}`}
        aria-pressed=${family === chosen} onClick=${() => choose(family)}>
      <img src=${tile(family)} alt="" width="104" height="70" onError=${(event) => {
        event.target.hidden = true;
      }} />
      <span>${local(family)}</span></button>`,
      )}</div>`;
}
