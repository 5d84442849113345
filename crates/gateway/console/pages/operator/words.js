// The words that no prompt may contain, one a line, for requests from now on.
import { html, useEffect, useState } from "../../lib.js";
import { many, t } from "../../words.js";
import { get, put } from "../../api.js";

/** @param {string} text */
const lines = (text) => [
  ...new Set(
    text
      .split("\n")
      .map((line) => line.trim().toLowerCase().replace(/\s+/g, " "))
      .filter(Boolean),
  ),
];

/** @param {{ who: Runs }} given */
export function BannedWords({ who }) {
  const [kept, setKept] = useState(/** @type {string[] | null} */ (null));
  const [text, setText] = useState("");
  const [told, setTold] = useState(/** @type {Told | null} */ (null));
  const may = who.operator.role !== "viewer";
  const take = (/** @type {{ data: Wire.BannedWords }} */ { data }) => {
    setKept(data.words);
    setText(data.words.join("\n"));
  };
  useEffect(() => {
    get("/admin/v1/banned").then(take, (error) => setTold({ bad: true, text: error.message }));
  }, []);
  const now = lines(text);
  const added = now.filter((word) => !kept?.includes(word));
  const gone = (kept || []).filter((word) => !now.includes(word));
  const save = () =>
    put("/admin/v1/banned", { words: now }).then(
      (answer) => {
        take(answer);
        setTold({ text: t("wordsSaved") });
      },
      (error) => setTold({ bad: true, text: error.message }),
    );
  return html`<header class="head"><div><h1>${t("words")}</h1><p class="dim">${t("wordsText")}</p></div>
      ${
        added.length + gone.length > 0 &&
        html`<button class="button quiet" onClick=${() => setText((kept || []).join("\n"))}>${t("undo")}</button>`
      }
      ${
        may &&
        html`<button class="button" disabled=${!kept || !(added.length + gone.length)} onClick=${save}>
        ${t("save")}</button>`
      }</header>
    ${told && html`<p class=${told.bad ? "problem" : "ok"} role="status">${told.text}</p>`}
    ${!kept && !told && html`<section class="card waiting" aria-busy="true"></section>`}
    ${
      kept &&
      html`<div class="columns"><section class="card">
        <div class="field"><label for="banned">${many(now.length, "wordOne", "wordMany")}</label>
        <textarea id="banned" class="tall-words" spellcheck="false" disabled=${!may} aria-describedby="banned-hint"
          value=${text} onInput=${(event) => {
            setText(event.target.value);
            setTold(null);
          }}></textarea>
        <p class="hint" id="banned-hint">${t("wordsHint")}</p></div></section>
      <section class="card" aria-live="polite"><h2>${t("difference")}</h2>
        ${!(added.length + gone.length) && html`<p class="dim">${t("wordsSame")}</p>`}
        ${
          added.length > 0 &&
          html`<p class="field-title">${t("wordsNew")}</p>
          <p class="chips">${added.slice(0, 60).map((word) => html`<span class="tag exhausted break">${word}</span>`)}
            </p>`
        }
        ${
          gone.length > 0 &&
          html`<p class="field-title">${t("wordsGone")}</p>
          <p class="chips">${gone.slice(0, 60).map((word) => html`<span class="tag delivered break">${word}</span>`)}
            </p>`
        }</section></div>`
    }`;
}
