// A vendor described by what it was asked and what it answered: a curl command and its answer are pasted, what is what in
// them is marked, and the service says what the answer means by that.
import { html, useEffect, useState } from "../lib.js";
import { t } from "../words.js";
import { fromCurl } from "./curl.js";
import {
  FILLED,
  MARKS,
  OMITTED,
  STATE_MEANINGS,
  guessed,
  kept,
  leaves,
  meant,
  missing,
  placesOf,
  wished,
  withRecording,
  withoutGaps,
} from "./recording.js";

const STEPS = ["submit", "poll", "fetch", "probe"];
/** Until somebody has stopped typing. */
const PAUSE_MS = 350;
const MOST_SHOWN = 80;

/** @param {string} name */
const stepName = (name) =>
  ({ submit: t("recSubmit"), poll: t("recPoll"), fetch: t("recFetch"), probe: t("recProbe") })[name] || name;
/** @param {string} name */
const markName = (name) =>
  ({
    task: t("recMarkTask"),
    state: t("recMarkState"),
    file: t("recMarkFile"),
    base64: t("recMarkBase64"),
    progress: t("recMarkProgress"),
    seed: t("recMarkSeed"),
    revised_prompt: t("recMarkPrompt"),
    cost: t("recMarkCost"),
    code: t("recMarkCode"),
    message: t("recMarkMessage"),
    balance: t("recMarkBalance"),
  })[name] || name;

/** @param {Json} value */
const shown = (value) => {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
};

/**
 * The places of a document, each with what it is.
 * @param {{ title: string, places: Leaf[], choice: (leaf: Leaf) => Hole }} given
 */
const Places = ({ title, places, choice }) => html`<p class="field-title">${title}</p>
  <ul class="marks">${places.map(
    (leaf) => html`<li key=${leaf.at}><code>${leaf.at}</code><span class="dim">${shown(leaf.value)}</span>
      ${choice(leaf)}</li>`,
  )}</ul>`;

/** @param {Draft} one @param {(next: Partial<Draft>) => void} change @param {string[]} tasks */
const requestMarks = (one, change, tasks) => (/** @type {Leaf} */ { at }) => html`<select
    aria-label=${t("recFillOf", at)} value=${one.wishes[at] || ""}
    onChange=${(/** @type {On} */ event) => change({ wishes: { ...one.wishes, [at]: event.target.value } })}>
    <option value="">${t("recAsIs")}</option><option value=${OMITTED}>${t("recOmitted")}</option>
    ${[...(one.to === "submit" ? FILLED : tasks)].map((name) => html`<option value=${name}>${`{{${name}}}`}</option>`)}
  </select>`;

/** @param {Draft} one @param {(next: Partial<Draft>) => void} change */
const answerMarks = (one, change) => (/** @type {Leaf} */ { at, value }) => html`<span class="mark"><select
    aria-label=${t("recMarkOf", at)} value=${one.marks[at] || ""}
    onChange=${(/** @type {On} */ event) => change({ marks: { ...one.marks, [at]: event.target.value } })}>
    <option value="">${t("recNothing")}</option>
    ${MARKS.map((name) => html`<option value=${name}>${markName(name)}</option>`)}</select>
  ${
    one.marks[at] === "state" &&
    html`<select aria-label=${t("recStateOf", String(value))} value=${one.meanings[at] || meant(value)}
      onChange=${(/** @type {On} */ event) => change({ meanings: { ...one.meanings, [at]: event.target.value } })}>
      ${STATE_MEANINGS.map((name) => html`<option value=${name}>${`= ${name}`}</option>`)}</select>`
  }</span>`;

/**
 * What is recorded, each with what it means.
 * @param {{ all: Values[], answers: Values[], drop: (place: number) => void }} given
 */
const Kept = ({ all, answers, drop }) => html`<ul class="recorded">
  ${all.map(
    (one, place) => html`<li key=${place}><b>${stepName(one.to)}</b>
      <span class="dim">${[one.call, one.status || 200].filter(Boolean).join(" · ")}</span>
      <code>${JSON.stringify(one.means || kept(answers[place]?.means) || {})}</code>
      <button type="button" class="plain" aria-label=${t("recDrop", stepName(one.to))} onClick=${() => drop(place)}>
        ×</button></li>`,
  )}</ul>`;

/** A recording that nothing stands in yet. @param {string} to @param {string} call @param {string} operation */
const empty = (to, call, operation) =>
  /** @type {Draft} */ ({
    to,
    call,
    operation,
    curl: "",
    answer: "",
    status: 200,
    request: null,
    body: undefined,
    wishes: {},
    marks: {},
    meanings: {},
  });

/**
 * `found` hears where the vendor is and the credential, as far as a call shows them; `check` asks the service.
 * @param {{ value: Json, change: (next: Json) => void, base: string, operations: string[],
 * found: (seen: { base_url: string, credential: string }) => void,
 * check: (settings: Json) => Promise<Wire.BackendCheck> }} given
 */
export function Recorder({ value, change, base, operations, found, check }) {
  const calls = Object.keys(value?.calls || {});
  const [one, setOne] = useState(() => empty("submit", calls[0] || "call", operations[0] || ""));
  const [seen, setSeen] = useState(/** @type {Wire.BackendCheck | null} */ (null));
  const [problem, setProblem] = useState("");
  const all = /** @type {Values[]} */ (value?.recorded || []);
  const lacks = missing(value);
  const readable = one.body !== undefined && (one.request !== null || (one.curl === "" && one.to !== "probe"));
  const next = readable ? withRecording(value, one, base) : value;
  const meaning = readable ? /** @type {Json} */ (seen?.answers[all.length])?.means : undefined;
  const edit = (/** @type {Partial<Draft>} */ part) => setOne({ ...one, ...part });
  // What there is so far is judged by the service, which reads it as it will read the vendor.
  const asked = JSON.stringify(next || null);
  useEffect(() => {
    if (!readable && !all.length) return undefined;
    const timer = setTimeout(
      () =>
        check(withoutGaps(JSON.parse(asked))).then(
          (answer) => {
            setSeen(answer);
            setProblem("");
          },
          (error) => setProblem(error.message),
        ),
      PAUSE_MS,
    );
    return () => clearTimeout(timer);
  }, [asked, base]);
  const paste = (/** @type {string} */ curl) => {
    const request = fromCurl(curl);
    const task = all.find((kept) => kept.call === one.call && kept.means?.task)?.means.task.id;
    const guesses = request ? placesOf(request).map((leaf) => [leaf.at, wished(leaf, one.to, task)]) : [];
    edit({ curl, request, wishes: Object.fromEntries(guesses.filter(([, wish]) => wish)) });
    if (request) found({ base_url: base || request.origin, credential: request.key });
  };
  const answered = (/** @type {string} */ answer, status = one.status) => {
    let body;
    try {
      body = JSON.parse(answer);
    } catch {
      body = undefined;
    }
    const marks = leaves(body).map((leaf) => [leaf.at, guessed(leaf, one.to, status)]);
    edit({ answer, status, body, marks: Object.fromEntries(marks.filter(([, mark]) => mark)), meanings: {} });
  };
  const keep = () => {
    change(withRecording(value, one, base, kept(meaning)));
    const to = one.to === "submit" && Object.values(one.marks).includes("task") ? "poll" : one.to;
    setOne(empty(to, one.call, one.operation));
  };
  const tasks = Object.keys(value?.calls?.[one.call]?.task || { id: "" }).map((name) => `task.${name}`);
  const words = meaning && JSON.stringify(meaning.problem ? meaning : kept(meaning));
  return html`<section class="recorder"><h3>${t("recorder")}</h3><p class="hint">${t("recorderText")}</p>
    ${
      all.length > 0 &&
      html`<${Kept} all=${all} answers=${seen?.answers || []}
        drop=${(/** @type {number} */ place) => change({ ...value, recorded: all.filter((_, at) => at !== place) })} />`
    }
    ${lacks.length > 0 && html`<p class="hint">${t("recMissing", lacks.map(stepName).join(", "))}</p>`}
    <fieldset class="mapping"><legend class="visually-hidden">${t("recNew")}</legend>
    <div class="two"><div class="field"><label for="rec-to">${t("recTo")}</label>
      <select id="rec-to" value=${one.to} onChange=${(/** @type {On} */ event) =>
        setOne(empty(event.target.value, one.call, one.operation))}>
        ${STEPS.map((name) => html`<option value=${name}>${stepName(name)}</option>`)}</select></div>
    ${
      one.to !== "probe" &&
      html`<div class="field"><label for="rec-call">${t("recCall")}</label>
      <input id="rec-call" list="rec-calls" value=${one.call}
        onInput=${(/** @type {On} */ event) => edit({ call: event.target.value.trim() })} />
      <datalist id="rec-calls">${calls.map((name) => html`<option value=${name} />`)}</datalist></div>`
    }
    ${
      one.to === "submit" &&
      html`<div class="field"><label for="rec-op">${t("mapFor")}</label>
      <select id="rec-op" value=${one.operation}
        onChange=${(/** @type {On} */ event) => edit({ operation: event.target.value })}>
        ${operations.map((name) => html`<option value=${name}>${name}</option>`)}</select></div>`
    }</div>
    <div class="field"><label for="rec-curl">${t("recCurl")}</label>
      <textarea id="rec-curl" class="code" rows="5" spellcheck="false" value=${one.curl} placeholder="curl https://…"
        onInput=${(/** @type {On} */ event) => paste(event.target.value)}></textarea>
      ${one.curl && !one.request && html`<p class="problem" role="alert">${t("recNoCurl")}</p>`}
      <p class="hint">${one.request?.key ? t("recKeyTaken") : t("recCurlHint")}</p></div>
    ${
      one.request &&
      html`<${Places} title=${t("recRequest")} places=${placesOf(one.request)}
        choice=${requestMarks(one, edit, tasks)} />`
    }
    <div class="field"><label for="rec-answer">${t("recAnswer")}</label>
      <textarea id="rec-answer" class="code" rows="5" spellcheck="false" value=${one.answer} placeholder="{}"
        onInput=${(/** @type {On} */ event) => answered(event.target.value)}></textarea>
      ${one.answer && one.body === undefined && html`<p class="problem" role="alert">${t("mustBeJson")}</p>`}</div>
    <div class="field"><label for="rec-status">${t("recStatus")}</label>
      <input id="rec-status" type="number" min="100" max="599" value=${one.status}
        onInput=${(/** @type {On} */ event) => answered(one.answer, Number(event.target.value) || 200)} /></div>
    ${
      one.body !== undefined &&
      html`<${Places} title=${t("recResponse")} places=${leaves(one.body)} choice=${answerMarks(one, edit)} />`
    }
    ${words && html`<p class="meaning" role="status">${t("recMeans")} <code>${words}</code></p>`}
    <div class="row"><span class="space"></span><button type="button" class="button quiet"
      disabled=${!readable || !one.call} onClick=${keep}>${t("recKeep")}</button></div></fieldset>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      seen &&
      !problem &&
      html`<p class=${seen.problem ? "hint needed" : "hint"} role="status">
        ${seen.problem ? `${seen.field}: ${seen.problem}` : t("recGood")}</p>`
    }</section>`;
}
