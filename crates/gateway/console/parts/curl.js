// A call as documents of vendors show it: the words of a curl command, and the request that they mean. The credential is
// taken out of it at once, so that it never comes to stand among settings.

/** Letters of options that take a word, by what they mean; what means nothing here takes its word along. */
const SHORT = /** @type {Record<string, string>} */ ({
  X: "request",
  H: "header",
  d: "data",
  F: "form",
  u: "user",
  G: "",
  A: "other",
  b: "other",
  c: "other",
  e: "other",
  m: "other",
  o: "other",
  w: "other",
  x: "other",
});
/** Options without a word. */
const ALONE = /^(get|compressed|fail|fail-with-body|globoff|http\d.*|include|insecure|location|no-.*|silent|show-error|verbose|trace-time)$/;
const DATA = ["data", "data-raw", "data-binary", "data-ascii", "json"];
/** Lines of a head that the service writes itself. */
const OURS = /^(accept|accept-.*|cache-control|connection|content-length|content-type|cookie|host|origin|priority|referer|sec-.*|user-agent)$/;
const KEY_LINE = /^(.*[-_])?(api[-_]?key|api[-_]?token|auth[-_]?token|access[-_]?token|subscription-key|secret|key|token)$/i;
const KEY_FIELD = /^(key|api[-_]?key|access[-_]?token|token)$/i;
/** What stands in documents where a key is to be put. */
const NO_KEY = /^$|[$<{[*]|\.\.\.|your|api_?key|token|secret|^x+$/i;

/** The words of a line of a shell, with its quotes taken off. @param {string} text */
export function shellWords(text) {
  const found = [];
  const line = text.replace(/\\\r?\n/g, " ");
  const one = /\$'((?:[^'\\]|\\.)*)'|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+)|(\s+)/gy;
  let word = /** @type {string | null} */ (null);
  for (let match = one.exec(line); match; match = one.exec(line)) {
    const [, ansi, single, double, escaped, bare, space] = match;
    if (space !== undefined) {
      if (word !== null) found.push(word);
      word = null;
      continue;
    }
    const part =
      ansi !== undefined
        ? ansi.replace(/\\(.)/g, (_, letter) => ({ n: "\n", t: "\t", r: "\r" })[/** @type {string} */ (letter)] || letter)
        : (single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped ?? bare);
    word = (word ?? "") + part;
  }
  if (word !== null) found.push(word);
  return found;
}

/** What the words of a command say, one option after another. @param {string[]} words */
function options(words) {
  const found = /** @type {[string, string][]} */ ([]);
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (word.startsWith("--")) {
      const name = word.slice(2);
      if (ALONE.test(name)) found.push([name, ""]);
      else {
        at += 1;
        found.push([name, words[at] ?? ""]);
      }
    } else if (/^-[A-Za-z]/.test(word)) {
      let rest = word.slice(1);
      while (rest) {
        const meant = SHORT[rest[0]];
        rest = rest.slice(1);
        if (meant === "") found.push(["get", ""]);
        else if (meant) {
          if (!rest) at += 1;
          found.push([meant, rest || (words[at] ?? "")]);
          rest = "";
        }
      }
    } else if (word !== "curl") found.push(["url", word]);
  }
  return found;
}

/** @param {string} text */
const pair = (text, mark = "=") => {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
};
/** @param {string} text */
const document = (text) => {
  try {
    const read = JSON.parse(text);
    return typeof read === "object" ? read : undefined;
  } catch {
    return undefined;
  }
};

/**
 * How a request carries its credential, which is taken out of it.
 * @param {Recorded} request @param {string} user
 */
function taken(request, user) {
  const key = (/** @type {string} */ text) => (NO_KEY.test(text) ? "" : text);
  if (user) return { sign: { by: "basic" }, key: key(user) };
  for (const [name, value] of Object.entries(request.headers)) {
    const lower = name.toLowerCase();
    if (lower !== "authorization" && !KEY_LINE.test(lower)) continue;
    delete request.headers[name];
    const [, word = "", rest] = /^(\S+)\s+(.*)$/.exec(value) || [value, "", value];
    if (lower === "authorization" && /^bearer$/i.test(word)) return { sign: { by: "bearer" }, key: key(rest) };
    if (lower === "authorization" && /^basic$/i.test(word)) return { sign: { by: "basic" }, key: "" };
    return { sign: { by: "header", name: lower, ...(word && { prefix: `${word} ` }) }, key: key(rest) };
  }
  for (const [name, value] of Object.entries(request.query))
    if (KEY_FIELD.test(name)) {
      delete request.query[name];
      return { sign: { by: "query", name }, key: key(value) };
    }
  return { sign: { by: "none" }, key: "" };
}

/**
 * What a curl command asks for; nothing where the text is none.
 * @param {string} text
 * @returns {Recorded | null}
 */
export function fromCurl(text) {
  const words = shellWords(text.trim());
  if (words[0] !== "curl") return null;
  const given = options(words.slice(1));
  const all = (/** @type {string[]} */ names) => given.filter(([name]) => names.includes(name)).map(([, value]) => value);
  const [address] = all(["url"]);
  let url;
  try {
    url = new URL(address?.includes("://") ? address : `https://${address}`);
  } catch {
    return null;
  }
  const lines = all(["header"]).map((line) => pair(line, ":").map((part) => part.trim()));
  const kept = lines.filter(([name]) => name && !OURS.test(name.toLowerCase()));
  const data = all(DATA);
  const fields = [...(all(["data-urlencode"])), ...data];
  const json = data.length ? document(data.join("")) : undefined;
  const parts = all(["form", "form-string"]).map((one) => pair(one));
  const get = all(["get"]).length > 0;
  const request = /** @type {Recorded} */ ({
    method: (all(["request"])[0] || (!get && (fields.length || parts.length) ? "POST" : "GET")).toUpperCase(),
    origin: url.origin,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: Object.fromEntries(kept),
    key: "",
    sign: {},
  });
  if (json !== undefined) request.json = json;
  else if (parts.length)
    request.multipart = Object.fromEntries(
      parts.map(([name, value]) => [name, /^[@<]/.test(value) ? { file: "image" } : value]),
    );
  else if (fields.length) {
    const form = Object.fromEntries(new URLSearchParams(fields.join("&")));
    if (get) Object.assign(request.query, form);
    else request.form = form;
  }
  return Object.assign(request, taken(request, all(["user"])[0] || ""));
}
