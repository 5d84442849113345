// Sign in: by e-mail, by a provider, or with a key or a token. What was typed is sent once and not kept in the page.
import { html, useEffect, useState } from "../lib.js";
import { language, t } from "../words.js";
import { askLink, enterCode, signIn, ways as readWays } from "../api.js";

/** Whether people sign in here other than by a link that stands in the log. @param {Wire.Ways | null} ways */
const forPeople = (ways) => Boolean(ways && (ways.mail || ways.providers.length));

/**
 * What the service cannot do is said in place, and the first field has the next word.
 * @param {{ problem: string }} given
 */
const Problem = ({ problem }) => problem && html`<p class="problem" role="alert">${problem}</p>`;

/** @param {{ entered: (who: Who) => void, first: boolean }} given */
function ByKey({ entered, first }) {
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
  return html`<form onSubmit=${submit}>
    <div class="field"><label for="secret">${t("signInField")}</label>
      <input id="secret" name="secret" type="password" required autocomplete="off" autofocus=${first} spellcheck="false"
        placeholder="at_…" aria-describedby="secret-hint" />
      <p class="hint" id="secret-hint">${t("signInHelp")}</p></div>
    <${Problem} problem=${problem} />
    <button class=${`button${first ? " make" : ""}`} disabled=${busy}><b>${t("signIn")}</b></button></form>`;
}

/** @param {{ ask: (email: string) => Promise<unknown>, ways: Wire.Ways | null, first: boolean }} given */
function ByMail({ ask, ways, first }) {
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (/** @type {On} */ event) => {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (event.target.elements.namedItem("email"));
    setBusy(true);
    setProblem("");
    try {
      await ask(field.value.trim());
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
      setBusy(false);
      field.focus();
    }
  };
  return html`<form onSubmit=${submit}>
    <div class="field"><label for="email">${t("emailAddress")}</label>
      <input id="email" name="email" type="email" required autocomplete="username" autofocus=${first}
        spellcheck="false" placeholder="ada@example.com" aria-describedby="email-hint" />
      <p class="hint" id="email-hint">${t(ways?.signup ? "linkOrSignUpHelp" : "linkHelp")}
        ${ways && !ways.mail ? ` ${t("linkInLog")}` : ""}</p></div>
    <${Problem} problem=${problem} />
    <button class=${`button${first ? " make" : ""}`} disabled=${busy}><b>${t("sendLink")}</b></button></form>`;
}

/** @param {{ email: string, entered: (who: Who) => void, back: () => void }} given */
function CodeForm({ email, entered, back }) {
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (/** @type {On} */ event) => {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (event.target.elements.namedItem("code"));
    setBusy(true);
    setProblem("");
    try {
      entered(await enterCode(field.value.replace(/\s/g, "")));
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
      setBusy(false);
      field.focus();
    }
  };
  return html`<h1>${t("linkSentTitle")}</h1><p class="dim">${t("linkSent", email)}</p>
    <form onSubmit=${submit}>
      <div class="field"><label for="code">${t("linkCode")}</label>
        <input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" required spellcheck="false"
          placeholder="1234 5678" aria-describedby="code-hint" />
        <p class="hint" id="code-hint">${t("linkCodeHelp")}</p></div>
      <${Problem} problem=${problem} />
      <div class="row"><button class="button" disabled=${busy}>${t("signIn")}</button>
        <button type="button" class="button quiet" onClick=${back}>${t("back")}</button></div></form>`;
}

/** @param {{ entered: (who: Who) => void }} given */
export function SignIn({ entered }) {
  const [ways, setWays] = useState(/** @type {Wire.Ways | null} */ (null));
  const [sent, setSent] = useState("");
  useEffect(() => {
    readWays().then(setWays, () => {});
  }, []);
  const ask = (/** @type {string} */ email) => askLink(email, language).then(() => setSent(email));
  const people = forPeople(ways);
  const key = html`<${ByKey} entered=${entered} first=${!people} />`;
  const mail = html`<${ByMail} ask=${ask} ways=${ways} first=${people} />`;
  return html`<main class="sign-in" id="main"><div class="card">
    <p class="brand">Atelier<b>.</b></p>
    ${
      sent
        ? html`<${CodeForm} email=${sent} entered=${entered} back=${() => setSent("")} />`
        : html`<h1>${t("signInTitle")}</h1><p class="dim">${t(people ? "signInPeopleText" : "signInText")}</p>
      ${(ways?.providers || []).map(
        (one) => html`<a class="button provider" key=${one.name} href=${`/auth/v1/oidc/${one.name}/start`}>
          ${t("signInWith", one.title)}</a>`,
      )}
      ${people ? mail : key}
      <details class="more-ways"><summary>${t(people ? "signInByKey" : "signInByMail")}</summary>
        ${people ? key : mail}</details>`
    }
    <p class="dim small"><a href="/docs">${t("docs")}</a></p>
  </div></main>`;
}
