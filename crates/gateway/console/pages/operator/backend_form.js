// A back end's form: the vendor chosen from the list, its own settings as fields where it describes them, and the whole of
// them as text for mappings and everything else.
import { html, useState } from "../../lib.js";
import { t } from "../../words.js";
import { fieldName } from "../../show.js";
import { patch, post } from "../../api.js";
import { resolver } from "../../catalogue.js";
import { Dialog } from "../../parts/dialog.js";
import { Prose } from "../../parts/prose.js";

/** The fields that a schema describes simply enough for one input each; the rest is written as JSON. */
function described(schema) {
  if (!schema) return [];
  const resolve = resolver({ components: { schemas: schema.$defs || {} } });
  return Object.entries(schema.properties || {}).map(([name, property]) => {
    const one = resolve(property);
    const type = [one.type].flat().find((kind) => kind && kind !== "null");
    const options = one.enum || (one.oneOf?.every((option) => option.const !== undefined) ? one.oneOf.map((option) => option.const) : null);
    return { name, type: options ? "choice" : type, options: options?.filter((option) => option !== null), text: one.description || property.description || "", secret: /secret|token|password/.test(name), default: one.default };
  });
}

const SIMPLE = ["choice", "string", "integer", "number", "boolean"];

function Field({ field, value, change }) {
  const id = `set-${field.name}`;
  const input = () => {
    if (field.type === "choice") return html`<select id=${id} value=${value ?? ""} onChange=${(event) => change(event.target.value || undefined)}><option value="">${t("asVendor")}</option>${field.options.map((one) => html`<option value=${one}>${one}</option>`)}</select>`;
    if (field.type === "boolean") return html`<select id=${id} value=${value === undefined ? "" : String(value)} onChange=${(event) => change(event.target.value === "" ? undefined : event.target.value === "true")}><option value="">${t("asVendor")}</option><option value="true">${t("yes")}</option><option value="false">${t("no")}</option></select>`;
    if (field.type === "integer" || field.type === "number") return html`<input id=${id} type="number" step="any" value=${value ?? ""} placeholder=${field.default ?? ""} onInput=${(event) => change(event.target.value === "" ? undefined : Number(event.target.value))} />`;
    return html`<input id=${id} value=${value ?? ""} placeholder=${field.default ?? ""} onInput=${(event) => change(event.target.value || undefined)} />`;
  };
  return html`<div class="field"><label for=${id}>${fieldName(field.name)}</label>${input()}${field.text && html`<p class="hint"><${Prose} text=${field.text} /></p>`}</div>`;
}

/** The settings of a vendor: fields first, then the text of all of them, each kept up with the other. */
function SettingsEditor({ vendor, value, change }) {
  const fields = described(vendor?.settings).filter((field) => SIMPLE.includes(field.type));
  const [text, setText] = useState(JSON.stringify(value, null, 2));
  const [wrong, setWrong] = useState("");
  const set = (name, one) => {
    const next = { ...value };
    if (one === undefined) delete next[name]; else next[name] = one;
    setText(JSON.stringify(next, null, 2));
    setWrong("");
    change(next);
  };
  const write = (event) => {
    setText(event.target.value);
    try {
      const read = JSON.parse(event.target.value || "{}");
      if (typeof read !== "object" || Array.isArray(read) || !read) throw new Error(t("mustBeObject"));
      setWrong("");
      change(read);
    } catch (error) { setWrong(error.message); change(null); }
  };
  return html`${fields.length > 0 && html`<div class="two">${fields.map((field) => html`<${Field} key=${field.name} field=${field} value=${value?.[field.name]} change=${(one) => set(field.name, one)} />`)}</div>`}
    <details open=${!fields.length}><summary>${t("settingsText")}</summary>
    <div class=${`field${wrong ? " wrong" : ""}`}><label for="settings-text">${t("mapping")}</label><textarea id="settings-text" class="code tall-text" spellcheck="false" value=${text} onInput=${write}></textarea>
    ${wrong && html`<p class="problem" role="alert">${wrong}</p>`}<p class="hint">${t("mappingHint")} <a href="/docs/guide/backends">${t("readGuide")}</a></p></div></details>`;
}

const Place = ({ value, change }) => html`
  <div class="two"><div class="field"><label for="be-name">${t("name")}</label><input id="be-name" required value=${value.name} onInput=${(event) => change({ ...value, name: event.target.value })} /></div>
  <div class="field"><label for="be-rank">${t("rankLabel")}</label><input id="be-rank" type="number" value=${value.rank} onInput=${(event) => change({ ...value, rank: Number(event.target.value) })} /></div></div>
  <div class="field"><label for="be-url">${t("address")}</label><input id="be-url" type="url" required placeholder="https://" value=${value.base_url} onInput=${(event) => change({ ...value, base_url: event.target.value })} /></div>
  <div class="field"><label for="be-ops">${t("serves")}</label><input id="be-ops" value=${value.operations} placeholder=${t("everything")} onInput=${(event) => change({ ...value, operations: event.target.value })} /><p class="hint">${t("servesHint")}</p></div>`;

const list = (text) => text.split(/[\s,]+/).filter(Boolean);

export function NewBackend({ vendors, close, made }) {
  const [vendor, setVendor] = useState(null);
  const [place, setPlace] = useState({ name: "", base_url: "", rank: 100, operations: "" });
  const [settings, setSettings] = useState({});
  const [first, setFirst] = useState({ credential: "", concurrency: 3 });
  const [problem, setProblem] = useState("");
  const submit = async (event) => {
    event.preventDefault();
    setProblem("");
    try {
      const { data } = await post("/admin/v1/backends", { vendor: vendor.name, name: place.name, base_url: place.base_url, rank: place.rank, operations: list(place.operations), settings: settings || {} });
      if (first.credential || !vendor.needsCredential) await post(`/admin/v1/backends/${data.id}/accounts`, { name: "first", ...(first.credential ? { credential: first.credential } : {}), concurrency: first.concurrency });
      made(data);
    } catch (error) { setProblem(error.message); }
  };
  return html`<${Dialog} close=${close} label=${t("newBackend")} kind="wide-dialog"><h2>${vendor ? t("newBackendOf", vendor.name) : t("chooseVendor")}</h2>
    ${!vendor && html`<ul class="vendors">${vendors.map((one) => html`<li key=${one.name}><button class="vendor" onClick=${() => { setVendor(one); setPlace({ ...place, name: one.name }); }}><b>${one.name}</b><span class="dim">${one.about}</span></button></li>`)}</ul>
      <div class="row"><span class="space"></span><button class="button quiet" onClick=${close}>${t("leave")}</button></div>`}
    ${vendor && html`<form onSubmit=${submit}><p class="dim">${vendor.about}</p><${Place} value=${place} change=${setPlace} />
      <div class="two"><div class="field"><label for="be-cred">${t("credential")}</label><input id="be-cred" type="password" autocomplete="off" required=${vendor.needsCredential} value=${first.credential} onInput=${(event) => setFirst({ ...first, credential: event.target.value })} /><p class="hint">${t("credentialHint")}</p></div>
      <div class="field"><label for="be-at-once">${t("atOnce")}</label><input id="be-at-once" type="number" min="1" value=${first.concurrency} onInput=${(event) => setFirst({ ...first, concurrency: Number(event.target.value) })} /></div></div>
      <${SettingsEditor} vendor=${vendor} value=${settings} change=${setSettings} />
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <div class="row"><button type="button" class="button quiet" onClick=${() => setVendor(null)}>${t("back")}</button><span class="space"></span><button type="button" class="button quiet" onClick=${close}>${t("leave")}</button><button class="button" disabled=${settings === null}>${t("newBackend")}</button></div></form>`}<//>`;
}

export function Settings({ row, vendor, close, saved }) {
  const [place, setPlace] = useState({ name: row.name, base_url: row.base_url, rank: row.rank, operations: row.operations.join(", ") });
  const [settings, setSettings] = useState(row.settings || {});
  const [problem, setProblem] = useState("");
  const submit = async (event) => {
    event.preventDefault();
    try {
      await patch(`/admin/v1/backends/${row.id}`, { name: place.name, base_url: place.base_url, rank: place.rank, operations: list(place.operations), settings });
      saved();
      close();
    } catch (error) { setProblem(error.message); }
  };
  return html`<${Dialog} close=${close} label=${row.name} kind="wide-dialog"><h2>${t("settingsOf", row.name)}</h2>${row.declared && html`<p class="hint">${t("declared")}</p>`}
    <form onSubmit=${submit}><${Place} value=${place} change=${setPlace} /><${SettingsEditor} vendor=${vendor} value=${settings} change=${setSettings} />
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <div class="row"><span class="space"></span><button type="button" class="button quiet" onClick=${close}>${t("leave")}</button><button class="button" disabled=${settings === null}>${t("save")}</button></div></form><//>`;
}
