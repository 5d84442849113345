// An own account at a vendor: the vendor chosen from the list, where it is, the credential, and the vendor's own
// settings.
import { html, useEffect, useState } from "../../lib.js";
import { t } from "../../words.js";
import { get, post } from "../../api.js";
import { Dialog } from "../../parts/dialog.js";
import { SettingsEditor, Vendors } from "../../parts/vendor.js";

const AT_ONCE = 2;

/** @param {{ close: () => void, made: () => void }} given */
export function NewOwnWorker({ close, made }) {
  const [vendors, setVendors] = useState(/** @type {Wire.VendorRow[]} */ ([]));
  const [vendor, setVendor] = useState(/** @type {Wire.VendorRow | null} */ (null));
  const [given, setGiven] = useState(/** @type {Values} */ ({}));
  const [settings, setSettings] = useState(/** @type {Values} */ ({}));
  const [problem, setProblem] = useState("");
  useEffect(() => {
    get("/custody/v1/vendors").then(
      ({ data }) => setVendors(data),
      (error) => setProblem(error.message),
    );
  }, []);
  const choose = (/** @type {Wire.VendorRow} */ one) => {
    setVendor(one);
    setSettings({});
    setProblem("");
    setGiven({ name: one.name, base_url: one.address || "", credential: "", concurrency: AT_ONCE });
  };
  const set = (/** @type {string} */ name) => (/** @type {On} */ event) =>
    setGiven({ ...given, [name]: event.target.value });
  const submit = async (/** @type {On} */ event) => {
    event.preventDefault();
    setProblem("");
    const { credential, ...rest } = given;
    try {
      await post("/custody/v1/accounts", {
        vendor: vendor?.name,
        ...rest,
        ...(credential ? { credential } : {}),
        ...(Object.keys(settings).length ? { settings } : {}),
      });
      made();
      close();
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    }
  };
  return html`<${Dialog} close=${close} label=${t("addOwn")} kind="wide-dialog">
    <h2>${vendor ? t("addOwnAt", vendor.name) : t("chooseVendor")}</h2>
    <p class="dim about">${vendor ? vendor.about : t("addOwnText")}</p>
    ${!vendor && html`<${Vendors} all=${vendors} choose=${choose} close=${close} />`}
    ${
      vendor &&
      html`<form onSubmit=${submit}>
      <div class="two"><div class="field"><label for="own-name">${t("name")}</label>
        <input id="own-name" required value=${given.name} onInput=${set("name")} /></div>
      <div class="field"><label for="own-at-once">${t("atOnce")}</label>
        <input id="own-at-once" type="number" min="1" value=${given.concurrency} onInput=${set("concurrency")} /></div>
          </div>
      <div class="field"><label for="own-url">${t("address")}</label>
        <input id="own-url" type="url" required placeholder="https://" value=${given.base_url}
          onInput=${set("base_url")} /></div>
      <div class="field"><label for="own-cred">${t("credential")}</label>
        <input id="own-cred" type="password" autocomplete="off" required=${vendor.needsCredential}
          value=${given.credential} onInput=${set("credential")} /><p class="hint">${t("credentialHint")}</p></div>
      <${SettingsEditor} vendor=${vendor} value=${settings} change=${setSettings} />
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <div class="row"><button type="button" class="button quiet" onClick=${() => setVendor(null)}>${t("back")}</button>
        <span class="space"></span><button type="button" class="button quiet" onClick=${close}>${t("leave")}</button>
          <button class="button" disabled=${settings === null}>${t("addOwn")}</button></div></form>`
    }
    ${!vendor && problem && html`<p class="problem" role="alert">${problem}</p>`}<//>`;
}
