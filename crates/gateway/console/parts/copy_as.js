// A request as a line to paste: curl, Python, JavaScript, or the service's own command line.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { Copy } from "./copy.js";
import { Dialog } from "./dialog.js";

const quoted = (text) => `'${text.replace(/'/g, "'\\''")}'`;
const ALLOWED = "A-Za-z0-9";

/** Each works when pasted, with the key in the variable ATELIER_KEY. */
export const KINDS = {
  curl: ({ url, body }) => `curl -s ${url} \\\n  -H "SVC-API-KEY: $ATELIER_KEY" -H 'Content-Type: application/json' \\\n  -d ${quoted(body)}`,
  Python: ({ url, body }) => `import json, os, urllib.request\n\nrequest = urllib.request.Request(\n    ${JSON.stringify(url)},\n    data=json.dumps(json.loads(${JSON.stringify(body)})).encode(),\n    headers={"SVC-API-KEY": os.environ["ATELIER_KEY"], "Content-Type": "application/json"},\n)\nprint(json.load(urllib.request.urlopen(request)))`,
  JavaScript: ({ url, body }) => `const answer = await fetch(${JSON.stringify(url)}, {\n  method: "POST",\n  headers: { "SVC-API-KEY": process.env.ATELIER_KEY, "Content-Type": "application/json" },\n  body: JSON.stringify(${body}),\n});\nconsole.log(await answer.json());`,
  "atelier call": ({ origin, name, body }) => `ATELIER_URL=${origin} atelier call ${name.replace(new RegExp(`[^${ALLOWED}_.]`, "g"), "")} ${quoted(body)}`,
};

/** Every way to say a request; `kinds` leaves some out. */
export function Snippets({ name, path, request, kinds = Object.keys(KINDS) }) {
  const [kind, setKind] = useState(kinds[0]);
  const text = KINDS[kind]({ origin: location.origin, url: location.origin + path, name, body: JSON.stringify(request) });
  return html`<div class="snippets"><div class="row"><div class="chips">${kinds.map((one) => html`<button type="button" class=${`chip${one === kind ? " active" : ""}`} aria-pressed=${one === kind} onClick=${() => setKind(one)}>${one}</button>`)}</div>
    <span class="space"></span><${Copy} text=${text} /></div>
    <pre tabindex="0"><code>${text}</code></pre></div>`;
}

export const CopyAs = ({ name, path, request, close }) => html`<${Dialog} close=${close} label=${t("copyAs")} kind="code-dialog">
    <h2>${t("copyAs")}</h2>
    <${Snippets} name=${name} path=${path} request=${request} />
    <p class="dim">${t("keyFrom")}</p>
    <div class="row"><span class="space"></span><button class="button" onClick=${close}>${t("finish")}</button></div>
  <//>`;
