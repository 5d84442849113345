// The small menu at the top: who is here, light or dark, the language, the keyboard, leaving.
import { html, useEffect, useRef, useState } from "../lib.js";
import { LANGUAGES, choose, language, t } from "../words.js";
import { chooseAccount, get } from "../api.js";
import { go, href } from "../route.js";
import { Icon } from "./icon.js";

const KEPT = "atelier.theme";
const THEMES = ["auto", "light", "dark"];
const read = () => {
  try {
    return localStorage.getItem(KEPT) || "auto";
  } catch {
    return "auto";
  }
};

/** Light or dark as the viewer chose; the system decides unless somebody did. */
export function wear(theme = read()) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/**
 * The accounts of the person who is signed in; another one is entered by choosing it.
 * @param {{ who: Who & { person: Wire.SignedInAs }, enter: (who: Who) => void }} given
 */
function Accounts({ who, enter }) {
  const [accounts, setAccounts] = useState(/** @type {Wire.Membership[]} */ ([]));
  useEffect(() => {
    get("/auth/v1/me").then(
      ({ data }) => setAccounts(data.accounts),
      () => {},
    );
  }, [who.person.accountId]);
  const choose = (/** @type {string} */ id) =>
    chooseAccount(id).then(
      (now) => {
        enter(now);
        go("create");
      },
      () => {},
    );
  const others = accounts.filter((one) => one.id !== who.person.accountId);
  return others.length > 0
    ? html`<div role="group" aria-label=${t("enterAccount")}>
      ${others.map(
        (one) => html`<button class="menu-line break" key=${one.id} onClick=${() => choose(one.id)}>
          ${t("enterNamed", one.email)}</button>`,
      )}</div>`
    : null;
}

/**
 * @param {{ who: Who, leave: (everywhere: boolean) => void, enter: (who: Who) => void, keyboard: () => void }} given
 */
export function Menu({ who, leave, enter, keyboard }) {
  const [opened, setOpened] = useState(false);
  /** @type {Ref<HTMLDetailsElement>} */
  const box = useRef(null);
  const [theme, setTheme] = useState(read);
  useEffect(() => {
    const away = (/** @type {MouseEvent} */ event) => {
      if (box.current?.open && !box.current.contains(/** @type {Node} */ (event.target))) box.current.open = false;
    };
    const press = (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape" && box.current?.open) {
        box.current.open = false;
        box.current.querySelector("summary")?.focus();
      }
    };
    addEventListener("click", away);
    addEventListener("keydown", press);
    return () => {
      removeEventListener("click", away);
      removeEventListener("keydown", press);
    };
  }, []);
  const dress = (/** @type {string} */ name) => {
    try {
      localStorage.setItem(KEPT, name);
    } catch {
      /* then it lasts as long as the page */
    }
    wear(name);
    setTheme(name);
  };
  const shut = (/** @type {() => void} */ action) => () => {
    box.current.open = false;
    action();
  };
  const names = [who.person?.email, who.account?.email, who.operator && `${t("operator")}: ${who.operator.name}`];
  return html`<details class="menu" ref=${box} onToggle=${() => setOpened(Boolean(box.current?.open))}>
    <summary class="button quiet" aria-label=${t("menu")} title=${t("menu")}>
    <${Icon} name="more" /></summary>
    <div class="menu-list">
      <p class="dim break">${names.filter(Boolean).join(" · ")}</p>
      <div class="chips" role="group" aria-label=${t("theme")}>
        ${THEMES.map(
          (one) => html`<button class=${`chip${one === theme ? " active" : ""}`} aria-pressed=${one === theme}
            onClick=${() => dress(one)}>${t(`theme.${one}`)}</button>`,
        )}</div>
      <div class="chips" role="group" aria-label=${t("language")}>
        ${Object.entries(LANGUAGES).map(
          ([key, name]) =>
            html`<button class=${`chip${key === language ? " active" : ""}`} aria-pressed=${key === language}
              lang=${key}
            onClick=${() => choose(key)}>${name}</button>`,
        )}</div>
      ${opened && who.person && html`<${Accounts} who=${who} enter=${(now) => shut(() => enter(now))()} />`}
      ${
        who.person &&
        !who.looking &&
        html`<a class="menu-line" href=${href("account", { part: "you" })} onClick=${shut(() => {})}>${t("you")}</a>`
      }
      <button class="menu-line" onClick=${shut(keyboard)}>${t("keyboard")}</button>
      <a class="menu-line" href="/docs">${t("docs")}</a>
      <button class="menu-line" onClick=${shut(() => leave(false))}>${t("signOut")}</button>
      <button class="menu-line" onClick=${shut(() => leave(true))}>${t("signOutEverywhere")}</button>
    </div></details>`;
}
