// From a call and its answer, with marks on both, to the settings that describe a vendor. Nothing here is drawn.

/** No more places of a document are shown. */
const MOST_LEAVES = 150;
/** What a field of a request is filled with, by the names that vendors give it. */
const WISHES = /** @type {[RegExp, string][]} */ ([
  [/^(prompt|text|text_prompt|input_text)$/, "prompt"],
  [/^negative(_?prompt)?$/, "negative"],
  [/^(model|model_?(id|name|version)|version)$/, "model"],
  [/^(n|num|count|num_?(images|outputs|samples)|batch_?(size|count)|samples|number_?of_?images)$/, "count"],
  [/^(random_?)?seed$/, "seed"],
  [/^(width|height|size|strength|steps|quality|style|background)$/, ""],
  [/^(aspect_?)?ratio$/, "ratio"],
  [/^(image_?)?size$/, "size"],
  [/^(video_)?resolution$/, "resolution"],
  [/^(duration|seconds|length)$/, "seconds"],
  [/^(image|image_?url|input_?image|init_?image|reference_?image|start_?image)$/, "image"],
  [/^(first_?frame.*|start_?frame.*)$/, "first"],
  [/^(last_?frame.*|end_?frame.*|image_?tail)$/, "last"],
  [/^mask(_?image|_?url)?$/, "mask"],
  [/^(webhook|callback|hook|notify)_?(url|hook)?$/, "hook"],
]);
/** Everything that a field can be filled with, in the order in which it is offered. */
export const FILLED = [
  "prompt",
  "negative",
  "model",
  "count",
  "seed",
  "width",
  "height",
  "size",
  "ratio",
  "resolution",
  "seconds",
  "image",
  "image.base64",
  "image.url",
  "first",
  "last",
  "mask",
  "strength",
  "quality",
  "style",
  "background",
  "hook",
  "attempt",
];
/** A field that is not sent at all. */
export const OMITTED = "-";
/** What a place of an answer can be. */
export const MARKS = [
  "task",
  "state",
  "file",
  "base64",
  "progress",
  "seed",
  "revised_prompt",
  "cost",
  "code",
  "message",
  "balance",
];
const GUESSES = /** @type {[RegExp, string][]} */ ([
  [/^(id|(task|job|request|generation|prediction|video|image)_?id|uuid|name)$/i, "task"],
  [/^((task_?)?(status|state))$/i, "state"],
  [/^(b64_?json|base64|image_?base64|binary_?data_?base64)$/i, "base64"],
  [/^progress$/i, "progress"],
  [/^seed$/i, "seed"],
  [/^revised_?prompt$/i, "revised_prompt"],
  [/^(error_?)?code$/i, "code"],
  [/^(message|detail|error|reason|error_?message)$/i, "message"],
  [/^(balance|credits)$/i, "balance"],
]);
/** What the words for states usually mean. */
const STATES = /** @type {[RegExp, string][]} */ ([
  [/succ|complete|done|finish|ready/i, "done"],
  [/moder|nsfw|sensitive|reject/i, "reject"],
  [/fail|error|cancel|expire|timeout/i, "failed"],
]);
export const STATE_MEANINGS = ["running", "done", "failed", "reject", "retry", "quota", "gone"];

/** A step of a JSON pointer. @param {string} name */
const step = (name) => name.replace(/~/g, "~0").replace(/\//g, "~1");
/** @param {string} at */
const lastOf = (at) => at.split("/").filter((one) => one && !/^\d+$/.test(one)).pop() || "";

/**
 * Every place of a document that is a single value.
 * @param {Json} value
 * @returns {Leaf[]}
 */
export function leaves(value, at = "", found = /** @type {Leaf[]} */ ([])) {
  if (found.length >= MOST_LEAVES) return found;
  if (value && typeof value === "object" && Object.keys(value).length)
    for (const [name, inner] of Object.entries(value)) leaves(inner, `${at}/${step(name)}`, found);
  else if (value !== undefined) found.push({ at, value });
  return found;
}

/**
 * The places of a request: those of its body and its query, and the parts of its path.
 * @param {Recorded} request
 * @returns {Leaf[]}
 */
export function placesOf({ path, query, json, form, multipart }) {
  const parts = path.split("/").map((value, index) => ({ at: `path/${index}`, value: decodeURIComponent(value) }));
  const asked = Object.entries(query).map(([name, value]) => ({ at: `query/${step(name)}`, value }));
  const files = Object.entries(multipart || {}).map(([name, value]) => ({ at: `/${step(name)}`, value }));
  return [
    ...parts.filter((one) => one.value),
    ...asked,
    ...(multipart ? files : leaves(json ?? form)).filter((one) => one.at),
  ];
}

/** What a place of a request is likely to be filled with. @param {Leaf} leaf @param {string} step @param {string} task */
export function wished({ at, value }, step, task) {
  if (step !== "submit") return task && String(value) === task ? "task.id" : "";
  if (at.startsWith("path/") || typeof value === "boolean" || typeof value === "object") return "";
  const name = lastOf(at).toLowerCase();
  const [, found] = WISHES.find(([known]) => known.test(name)) || [];
  return found === "" ? name : found || "";
}

/** What a place of an answer is likely to be. @param {Leaf} leaf @param {string} to @param {number} status */
export function guessed({ at, value }, to, status) {
  if (value === null || value === "" || typeof value === "object") return "";
  const name = lastOf(at);
  const [, found] = GUESSES.find(([known]) => known.test(name)) || [];
  if (status >= 400) return found === "code" || found === "message" ? found : "";
  if (to === "probe") return found === "balance" && typeof value === "number" ? found : "";
  if (found === "code" || found === "message" || found === "balance") return "";
  if (found === "task") return to === "submit" ? found : "";
  if (found) return found;
  return /^https?:\/\//.test(String(value)) ? "file" : "";
}

/** What a word for a state is likely to mean. @param {Json} word */
export const meant = (word) => (STATES.find(([known]) => known.test(String(word))) || ["", "running"])[1];

/** A place in any entry of a list, not in the first one. @param {string} at */
const general = (at) => at.replace(/\/\d+(?=\/|$)/g, "/*");

/** One place more, if it is another one. @param {Json} known @param {string} at */
function also(known, at) {
  const all = [known ?? []].flat();
  if (all.includes(at)) return known;
  return all.length ? [...all, at] : at;
}

/**
 * A request with placeholders where it is marked.
 * @param {Recorded} request @param {Record<string, string>} wishes @param {string} base
 */
export function requestOf(request, wishes, base) {
  const filled = (/** @type {string} */ at, /** @type {Json} */ value) => {
    const wish = wishes[at];
    return wish === OMITTED ? undefined : wish ? `{{${wish}}}` : value;
  };
  const inside = (/** @type {Json} */ value, at = "") => {
    if (!value || typeof value !== "object" || !Object.keys(value).length) return filled(at, value);
    const entries = Object.entries(value).map(([name, one]) => [name, inside(one, `${at}/${step(name)}`)]);
    const kept = entries.filter(([, one]) => one !== undefined);
    return Array.isArray(value) ? kept.map(([, one]) => one) : Object.fromEntries(kept);
  };
  const table = (/** @type {Json} */ fields, before = "") =>
    Object.fromEntries(
      Object.entries(fields || {})
        .map(([name, value]) => [name, filled(`${before}/${step(name)}`, value)])
        .filter(([, value]) => value !== undefined),
    );
  const parts = request.path.split("/").map((part, index) => filled(`path/${index}`, part));
  const path = `${request.origin}${parts.join("/")}`;
  const below = base.replace(/\/+$/, "");
  const made = /** @type {Values} */ ({
    path: below && path.startsWith(`${below}/`) ? path.slice(below.length + 1) : path === below ? "" : path,
  });
  const body = request.json !== undefined || request.form || request.multipart;
  if (request.method !== (body ? "POST" : "GET")) made.method = request.method;
  const query = table(request.query, "query");
  if (Object.keys(query).length) made.query = query;
  if (Object.keys(request.headers).length) made.headers = request.headers;
  if (request.json !== undefined) made.json = inside(request.json);
  else if (request.multipart) made.multipart = table(request.multipart);
  else if (request.form) made.form = table(request.form);
  return made;
}

/** What a model is asked for in the call, as far as the call shows it. @param {Draft} one @param {Recorded} request */
function entryOf(one, request) {
  const entry = /** @type {Values} */ ({ call: one.call });
  for (const { at, value } of placesOf(request)) {
    const wish = one.wishes[at];
    if (wish === "model") entry.model = String(value);
    if (wish === "seconds" && Number(value) > 0) entry.seconds = [Math.round(Number(value))];
    if (wish === "ratio") entry.ratios = [String(value)];
    if (wish === "size" && /^\d+x\d+$/.test(String(value))) entry.sizes = [String(value)];
    if (wish === "resolution" && Number.parseInt(value, 10) > 0)
      entry.resolutions = { [String(value)]: Number.parseInt(value, 10) };
  }
  return entry;
}

/** What the marks of an answer add to a call. @param {Draft} one @param {Values} call @param {Leaf[]} places */
function readWith(one, call, places) {
  for (const { at, value } of places) {
    const place = general(at);
    const mark = one.marks[at];
    const files = (/** @type {Values} */ extra) => {
      const known = /** @type {Values[]} */ (call.result?.files || []);
      const same = known.find((file) => (file.as || "") === (extra.as || ""));
      const rest = known.filter((file) => file !== same);
      call.result = { ...call.result, files: [...rest, { ...extra, at: also(same?.at, place) }] };
    };
    if (mark === "task") call.task = { ...call.task, id: place };
    if (mark === "state") {
      const words = { ...call.state?.words, [String(value)]: one.meanings[at] || meant(value) };
      call.state = { at: also(call.state?.at, place), words };
    }
    if (mark === "file") files({});
    if (mark === "base64") files({ as: "base64" });
    if (mark === "progress") call.progress = { ...call.progress, at: also(call.progress?.at, place) };
    if (mark === "seed" || mark === "revised_prompt")
      call.result = { ...call.result, [mark]: also(call.result?.[mark], place) };
    if (mark === "cost") call.result = { ...call.result, cost: { ...call.result?.cost, at: place } };
    if ((mark === "code" || mark === "message") && one.to !== "submit")
      call.failure = { ...call.failure, [mark]: also(call.failure?.[mark], place) };
  }
}

/**
 * The settings with one recording more. What was described before stays, as far as the recording says nothing else.
 * @param {Json} settings @param {Draft} one @param {string} base @param {Json} means
 */
export function withRecording(settings, one, base, means = undefined) {
  const next = /** @type {Values} */ (structuredClone(settings || {}));
  const { request, body } = one;
  const called = request && requestOf(request, one.wishes, base);
  if (request && request.sign.by !== "bearer") next.sign = request.sign;
  const places = leaves(body);
  if (one.to === "probe") {
    next.probe = { ...next.probe, ...(called && { request: called }) };
    if (one.status >= 400) next.probe.healthy = also(next.probe.healthy, /** @type {Json} */ (one.status));
    const balance = places.find(({ at }) => one.marks[at] === "balance");
    if (balance) next.probe.balance = { at: balance.at };
  } else {
    const call = { ...next.calls?.[one.call] };
    if (called) call[one.to] = one.to === "fetch" ? { ...call.fetch, request: called } : called;
    if (one.status < 400) readWith(one, call, places);
    next.calls = { ...next.calls, [one.call]: call };
    if (one.to === "submit" && request)
      next.models = { ...next.models, [one.operation]: { ...next.models?.[one.operation], ...entryOf(one, request) } };
  }
  if (one.to !== "poll" || one.status >= 400)
    for (const { at } of places)
      if (one.marks[at] === "code" || one.marks[at] === "message")
        next.error = { ...next.error, [one.marks[at]]: also(next.error?.[one.marks[at]], general(at)) };
  const kept = /** @type {Values} */ ({ to: one.to, body });
  if (one.to !== "probe") kept.call = one.call;
  if (one.status !== 200) kept.status = one.status;
  if (means) kept.means = means;
  next.recorded = [...(next.recorded || []), kept];
  return next;
}

/** What is not recorded yet: words for it, of which each has a text. @param {Json} settings */
export function missing(settings) {
  const calls = Object.values(settings?.calls || {});
  const lacks = [];
  if (!calls.some((call) => call.submit)) lacks.push("submit");
  if (calls.some((call) => call.task && !call.poll)) lacks.push("poll");
  if (!settings?.probe?.request) lacks.push("probe");
  return lacks;
}

/**
 * The same settings with something in every gap, so that what is there can be tried before everything is.
 * @param {Json} settings
 */
export function withoutGaps(settings) {
  const next = structuredClone(settings);
  for (const call of Object.values(next.calls || {})) {
    call.submit ||= { path: "" };
    if (call.task) {
      call.poll ||= { path: "{{task.id}}" };
      call.state ||= { at: "/state", words: { done: "done" } };
    }
    call.result ||= {};
    call.result.files ||= [{ at: "/result" }];
  }
  next.calls ||= { call: { submit: { path: "" }, result: { files: [{ at: "/result" }] } } };
  next.models ||= {};
  next.probe = { ...next.probe, request: next.probe?.request || { path: "" } };
  return next;
}

/** As much of a meaning as is kept beside an answer to be checked. @param {Json} meaning */
export function kept(meaning) {
  if (!meaning || meaning.problem) return undefined;
  if (meaning.class) return { class: meaning.class };
  if (meaning.state === "taken" || meaning.state === "fetch") return { task: meaning.task };
  if (meaning.state === "done") return { state: "done", files: meaning.files.length };
  return { state: meaning.state };
}
