// A back end's form: the vendor chosen from the list, its usual address, its own settings.
import { html, useState } from "../../lib.js";
import { t } from "../../words.js";
import { patch, post } from "../../api.js";
import { Dialog } from "../../parts/dialog.js";
import { SettingsEditor, Vendors } from "../../parts/vendor.js";

/** @param {{ value: Values, change: (next: Values) => void }} given */
const Place = ({ value, change }) => html`
  <div class="two"><div class="field"><label for="be-name">${t("name")}</label>
    <input id="be-name" required value=${value.name}
      onInput=${(event) => change({ ...value, name: event.target.value })} /></div>
  <div class="field"><label for="be-rank">${t("rankLabel")}</label>
    <input id="be-rank" type="number" value=${value.rank}
      onInput=${(event) => change({ ...value, rank: Number(event.target.value) })} /></div></div>
  <div class="field"><label for="be-url">${t("address")}</label>
    <input id="be-url" type="url" required placeholder="https://" value=${value.base_url}
      onInput=${(event) => change({ ...value, base_url: event.target.value })} /></div>
  <div class="field"><label for="be-ops">${t("serves")}</label>
    <input id="be-ops" value=${value.operations} placeholder=${t("everything")}
      onInput=${(event) => change({ ...value, operations: event.target.value })} />
        <p class="hint">${t("servesHint")}</p></div>`;

/**
 * What the recorder is given: where the vendor is, what becomes of what a call shows, and how settings are tried.
 * @param {string} vendor @param {Values} place @param {Recording["found"]} found
 * @returns {Recording}
 */
const recordingOf = (vendor, place, found) => ({
  base: place.base_url,
  found,
  check: async (settings) => {
    const spec = { vendor, name: place.name || vendor, base_url: place.base_url, settings };
    return (await post("/admin/v1/backends/check", spec)).data;
  },
});

/** @param {string} text */
const list = (text) => text.split(/[\s,]+/).filter(Boolean);

/** @param {{ vendors: Wire.VendorRow[], close: () => void, made: (row: Wire.Backend) => void }} given */
export function NewBackend({ vendors, close, made }) {
  const [vendor, setVendor] = useState(/** @type {Wire.VendorRow | null} */ (null));
  const [place, setPlace] = useState({ name: "", base_url: "", rank: 100, operations: "" });
  const [settings, setSettings] = useState(/** @type {Values} */ ({}));
  const [first, setFirst] = useState({ credential: "", concurrency: 3 });
  const [problem, setProblem] = useState("");
  const submit = async (/** @type {On} */ event) => {
    event.preventDefault();
    setProblem("");
    try {
      const { data } = await post("/admin/v1/backends", {
        vendor: vendor?.name,
        name: place.name,
        base_url: place.base_url,
        rank: place.rank,
        operations: list(place.operations),
        settings: settings || {},
      });
      if (first.credential || !vendor?.needsCredential)
        await post(`/admin/v1/backends/${data.id}/accounts`, {
          name: "first",
          ...(first.credential ? { credential: first.credential } : {}),
          concurrency: first.concurrency,
        });
      made(data);
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    }
  };
  return html`<${Dialog} close=${close} label=${t("newBackend")} kind="wide-dialog">
    <h2>${vendor ? t("newBackendOf", vendor.name) : t("chooseVendor")}</h2>
    ${
      !vendor &&
      html`<${Vendors} all=${vendors} close=${close}
        choose=${(one) => {
          setVendor(one);
          setSettings({});
          setPlace({ ...place, name: one.name, base_url: one.address || "" });
        }} />`
    }
    ${
      vendor &&
      html`<form onSubmit=${submit}><p class="dim about">${vendor.about}</p>
        <${Place} value=${place} change=${setPlace} />
      <div class="two"><div class="field"><label for="be-cred">${t("credential")}</label>
        <input id="be-cred" type="password" autocomplete="off" required=${vendor.needsCredential}
          value=${first.credential} onInput=${(event) => setFirst({ ...first, credential: event.target.value })} />
            <p class="hint">${t("credentialHint")}</p></div>
      <div class="field"><label for="be-at-once">${t("atOnce")}</label>
        <input id="be-at-once" type="number" min="1" value=${first.concurrency}
          onInput=${(event) => setFirst({ ...first, concurrency: Number(event.target.value) })} /></div></div>
      <${SettingsEditor} vendor=${vendor} value=${settings} change=${setSettings}
        recording=${recordingOf(vendor.name, place, (seen) => {
          setPlace({ ...place, base_url: seen.base_url });
          if (seen.credential) setFirst({ ...first, credential: seen.credential });
        })} />
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <div class="row"><button type="button" class="button quiet" onClick=${() => setVendor(null)}>${t("back")}</button>
        <span class="space"></span><button type="button" class="button quiet" onClick=${close}>${t("leave")}</button>
          <button class="button" disabled=${settings === null}>${t("newBackend")}</button></div></form>`
    }<//>`;
}

/** @param {{ row: Wire.Backend, vendor: Wire.VendorRow, close: () => void, saved: () => void }} given */
export function Settings({ row, vendor, close, saved }) {
  const [place, setPlace] = useState({
    name: row.name,
    base_url: row.base_url,
    rank: row.rank,
    operations: row.operations.join(", "),
  });
  const [settings, setSettings] = useState(row.settings || {});
  const [problem, setProblem] = useState("");
  const submit = async (/** @type {On} */ event) => {
    event.preventDefault();
    try {
      await patch(`/admin/v1/backends/${row.id}`, {
        name: place.name,
        base_url: place.base_url,
        rank: place.rank,
        operations: list(place.operations),
        settings,
      });
      saved();
      close();
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    }
  };
  return html`<${Dialog} close=${close} label=${row.name} kind="wide-dialog"><h2>${t("settingsOf", row.name)}</h2>
    ${row.declared && html`<p class="hint">${t("declared")}</p>`}
    <form onSubmit=${submit}><${Place} value=${place} change=${setPlace} />
      <${SettingsEditor} vendor=${vendor} value=${settings} change=${setSettings}
        recording=${recordingOf(vendor.name, place, () => {})} />
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <div class="row"><span class="space"></span><button type="button" class="button quiet" onClick=${close}>
      ${t("leave")}</button><button class="button" disabled=${settings === null}>${t("save")}</button></div></form>
        <//>`;
}
