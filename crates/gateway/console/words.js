// The text of a key in the viewer's language, from the catalogues beside this file. A key that is missing is English.
import { en } from "./words/en.js";

const KEPT = "atelier.language";
/** @type {Record<string, string>} */
export const LANGUAGES = { en: "English", de: "Deutsch", zh: "中文" };

const read = () => {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
};
const wanted = read() || (navigator.language || "en").slice(0, 2);
export const language = LANGUAGES[wanted] ? wanted : "en";
/** @type {Record<string, string>} */
const chosen = language === "en" ? en : (await import(`./words/${language}.js`))[language];
/** What comes from the catalogue of operations, which is written in English, in the viewer's language. */
const locals = language === "en" ? {} : (await import(`./catalogue/${language}.js`)).texts;
document.documentElement.lang = language;

/** The text of a key, with its places filled in. @param {string} key @param {...unknown} values */
export function t(key, ...values) {
  const text = chosen[key] ?? en[key] ?? key;
  return values.length ? text.replace(/\{(\d)\}/g, (_, place) => String(values[place] ?? "")) : text;
}

/** The text of a key, or nothing when no catalogue has it. @param {string} key */
export const maybe = (key) => chosen[key] ?? en[key];

/**
 * What the service itself has written, as the name of a first key, in the viewer's language; other words stay.
 * @param {string} text
 */
export const given = (text) => maybe(`given.${text}`) ?? text;

/**
 * A text of the catalogue in the viewer's language; one that nobody has translated stays as it is.
 * @param {string} text
 */
export const local = (text) => locals[plain(text)] ?? text;
/** A text without its end and its lines, as the translations have it. @param {string} text */
export const plain = (text) => text.replace(/\s+/g, " ").replace(/\.$/, "");

/**
 * The right one of a singular and a plural, with the number in it.
 * @param {number} number @param {string} one @param {string} more
 */
export const many = (number, one, more, shown = String(number)) => t(number === 1 ? one : more, shown);

/** Keeps another language and starts anew in it. @param {string} name */
export function choose(name) {
  try {
    localStorage.setItem(KEPT, name);
  } catch {
    /* a browser that keeps nothing asks again */
  }
  location.reload();
}
