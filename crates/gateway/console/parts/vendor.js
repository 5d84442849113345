// A vendor: chosen from the list of them, then its own settings as fields, its mappings where it is universal, and the
// whole of them as text for whoever likes that better.
import { html, useEffect, useState } from "../lib.js";
import { maybe, t } from "../words.js";
import { catalogue } from "../catalogue.js";
import { MappingEditor } from "./mapping.js";
import { SettingsFields, described, settingName } from "./settings.js";
import { later } from "./later.js";

const Recorder = later(() => import("./recorder.js").then((part) => part.Recorder));

/**
 * The vendors to choose from.
 * @param {{ all: Wire.VendorRow[], choose: (one: Wire.VendorRow) => void, close: () => void }} given
 */
export const Vendors = ({ all, choose, close }) => html`<ul class="vendors">
  ${all.map(
    (one) => html`<li key=${one.name}><button type="button" class="vendor" onClick=${() => choose(one)}>
      <b>${one.name}</b><span class="dim">${one.about}</span></button></li>`,
  )}</ul>
  <div class="row"><span class="space"></span><button type="button" class="button quiet" onClick=${close}>
    ${t("leave")}</button></div>`;

/**
 * The settings of a vendor: its own fields, its mappings where it is universal, the recorder where it is described by its
 * answers, and the text of all of them.
 * @param {{ vendor: Wire.VendorRow, value: Json, change: (next: Json) => void, recording?: Recording }} given
 */
export function SettingsEditor({ vendor, value, change, recording = undefined }) {
  const [all, setAll] = useState(/** @type {All | null} */ (null));
  const [text, setText] = useState(/** @type {string | null} */ (null));
  const [wrong, setWrong] = useState("");
  useEffect(() => {
    catalogue().then(setAll, () => {});
  }, []);
  const operations = (all?.operations || []).map((one) => one.name);
  // Of some settings one has to be given; such a vendor has nothing usual in their place.
  const needed = (vendor?.settings?.anyOf || []).flatMap((/** @type {Schema} */ one) => one.required || []);
  const given = (/** @type {string} */ name) => value?.[name] !== undefined && value[name] !== "";
  const lacking = needed.length > 0 && !needed.some(given) ? needed : [];
  const fields = described(vendor?.settings).filter((field) => !(vendor.mappings && field.name === "models"));
  const write = (/** @type {On} */ event) => {
    setText(event.target.value);
    try {
      const read = JSON.parse(event.target.value || "{}");
      if (typeof read !== "object" || Array.isArray(read) || !read) throw new Error(t("mustBeObject"));
      setWrong("");
      change(read);
    } catch (error) {
      setWrong(/** @type {Error} */ (error).message);
      change(null);
    }
  };
  const fill = (/** @type {Json} */ next) => {
    setText(null);
    setWrong("");
    change(next);
  };
  const models = (/** @type {Json} */ next) => {
    const { models: _, ...rest } = value || {};
    fill(next ? { ...rest, models: next } : rest);
  };
  // Those with a name of their own are what most operators set; a vendor with few has them all in sight.
  fields.sort((a, b) => Number(needed.includes(b.name)) - Number(needed.includes(a.name)));
  const common = fields.filter(
    (field) => fields.length <= 8 || (maybe(`field.${field.name}`) && !/_(seconds|ms)$/.test(field.name)),
  );
  const rest = fields.filter((field) => !common.includes(field));
  const recorder = recording && vendor?.settings?.properties?.recorded;
  return html`${
    recorder && html`<${Recorder} ...${recording} value=${value} change=${fill} operations=${operations} />`
  }
  ${
    fields.length > 0 &&
    html`<h3>${t("vendorSettings")}</h3>
    ${
      needed.length > 0 &&
      html`<p class=${`hint${lacking.length ? " needed" : ""}`}>${t("oneOf", needed.map(settingName).join(", "))}</p>`
    }
    <${SettingsFields} fields=${common} value=${value} change=${fill} known=${operations} needed=${needed}
      lacking=${lacking} />`
  }
    ${
      rest.length > 0 &&
      html`<details class="field"><summary>${t("more")}</summary>
        <${SettingsFields} fields=${rest} value=${value} change=${fill} known=${operations} /></details>`
    }
    ${
      vendor?.mappings &&
      html`<${MappingEditor} vendor=${vendor} value=${value?.models} operations=${operations} change=${models} />`
    }
    <details><summary>${t("settingsText")}</summary>
    <div class=${`field${wrong ? " wrong" : ""}`}><label for="settings-text">${t("mapping")}</label>
      <textarea id="settings-text" class="code tall-text" spellcheck="false"
        value=${text ?? JSON.stringify(value, null, 2)} onInput=${write}></textarea>
    ${wrong && html`<p class="problem" role="alert">${wrong}</p>`}
      <p class="hint">${t("mappingHint")} <a href="/docs/guide/backends">${t("readGuide")}</a></p></div></details>`;
}
