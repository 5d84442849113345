// Sign in: one field. What was typed is sent once and kept nowhere in the page.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { signIn } from "../api.js";

/** @param {{ entered: (who: Who) => void }} given */
export function SignIn({ entered }) {
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (/** @type {On} */ event) => {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (event.target.elements.namedItem("secret"));
    setBusy(true);
    setProblem("");
    try {
      entered(await signIn(field.value.trim()));
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
      setBusy(false);
      field.focus();
    }
  };
  return html`<main class="sign-in" id="main"><form class="card" onSubmit=${submit}>
    <p class="brand">Atelier<b>.</b></p>
    <h1>${t("signInTitle")}</h1><p class="dim">${t("signInText")}</p>
    <div class="field"><label for="secret">${t("signInField")}</label>
      <input id="secret" name="secret" type="password" required autocomplete="off" autofocus spellcheck="false"
        placeholder="at_…" aria-describedby="secret-hint" />
      <p class="hint" id="secret-hint">${t("signInHelp")}</p></div>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <button class="button make" disabled=${busy}><b>${t("signIn")}</b></button>
    <p class="dim small"><a href="/docs">${t("docs")}</a></p>
  </form></main>`;
}
