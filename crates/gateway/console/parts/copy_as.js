// A request as a line to paste: curl, Python, JavaScript, or the service's own command line.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { Copy } from "./copy.js";
import { Dialog } from "./dialog.js";

/** @param {string} text */
const quoted = (text) => `'${text.replace(/'/g, "'\\''")}'`;
const ALLOWED = "A-Za-z0-9";

/** @param {{ url: string, body: string }} given */
const inPython = ({ url, body }) => [
  "import json, os, urllib.request",
  "",
  "request = urllib.request.Request(",
  `    ${JSON.stringify(url)},`,
  `    data=json.dumps(json.loads(${JSON.stringify(body)})).encode(),`,
  '    headers={"SVC-API-KEY": os.environ["ATELIER_KEY"], "Content-Type": "application/json"},',
  ")",
  "print(json.load(urllib.request.urlopen(request)))",
];

/** @param {{ url: string, body: string }} given */
const inJavaScript = ({ url, body }) => [
  `const answer = await fetch(${JSON.stringify(url)}, {`,
  '  method: "POST",',
  '  headers: { "SVC-API-KEY": process.env.ATELIER_KEY, "Content-Type": "application/json" },',
  `  body: JSON.stringify(${body}),`,
  "});",
  "console.log(await answer.json());",
];

/** @param {{ url: string, body: string }} given */
const inCurl = ({ url, body }) => [
  `curl -s ${url} \\`,
  `  -H "SVC-API-KEY: $ATELIER_KEY" -H 'Content-Type: application/json' \\`,
  `  -d ${quoted(body)}`,
];

/** Each works when pasted, with the key in the variable ATELIER_KEY. */
export const KINDS = /** @type {Record<string, (call: Call) => string>} */ ({
  curl: (call) => inCurl(call).join("\n"),
  Python: (call) => inPython(call).join("\n"),
  JavaScript: (call) => inJavaScript(call).join("\n"),
  "atelier call": ({ origin, name, body }) =>
    `ATELIER_URL=${origin} atelier call ${name.replace(new RegExp(`[^${ALLOWED}_.]`, "g"), "")} ${quoted(body)}`,
});

/**
 * Every way to say a request; `kinds` leaves some out.
 * @param {{ name: string, path: string, request: Values, kinds?: string[] }} given
 */
export function Snippets({ name, path, request, kinds = Object.keys(KINDS) }) {
  const [kind, setKind] = useState(kinds[0]);
  const text = KINDS[kind]({
    origin: location.origin,
    url: location.origin + path,
    name,
    body: JSON.stringify(request),
  });
  return html`<div class="snippets"><div class="row">
    <div class="chips">
      ${kinds.map(
        (one) => html`<button type="button" class=${`chip${one === kind ? " active" : ""}`} aria-pressed=${one === kind}
          onClick=${() => setKind(one)}>${one}</button>`,
      )}</div>
    <span class="space"></span><${Copy} text=${text} /></div>
    <pre tabindex="0"><code>${text}</code></pre></div>`;
}

/** @param {{ name: string, path: string, request: Values, close: () => void }} given */
export const CopyAs = ({ name, path, request, close }) => html`<${Dialog} close=${close} label=${t("copyAs")}
  kind="code-dialog">
    <h2>${t("copyAs")}</h2>
    <${Snippets} name=${name} path=${path} request=${request} />
    <p class="dim">${t("keyFrom")}</p>
    <div class="row"><span class="space"></span><button class="button" onClick=${close}>${t("finish")}</button></div>
  <//>`;
