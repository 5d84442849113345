// A request as a line to paste: curl, Python, JavaScript, or the command line.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { Dialog } from "./dialog.js";

const quoted = (text) => `'${text.replace(/'/g, "'\\''")}'`;

const KINDS = {
  curl: (url, body) => `curl -s ${url} \\\n  -H "SVC-API-KEY: $ATELIER_KEY" -H 'Content-Type: application/json' \\\n  -d ${quoted(body)}`,
  Python: (url, body) => `import json, os, urllib.request\n\nrequest = urllib.request.Request(\n    ${JSON.stringify(url)},\n    data=json.dumps(json.loads(${JSON.stringify(body)})).encode(),\n    headers={"SVC-API-KEY": os.environ["ATELIER_KEY"], "Content-Type": "application/json"},\n)\nprint(json.load(urllib.request.urlopen(request)))`,
  JavaScript: (url, body) => `const answer = await fetch(${JSON.stringify(url)}, {\n  method: "POST",\n  headers: { "SVC-API-KEY": process.env.ATELIER_KEY, "Content-Type": "application/json" },\n  body: JSON.stringify(${body}),\n});\nconsole.log(await answer.json());`,
};

export function CopyAs({ path, request, close }) {
  const [kind, setKind] = useState("curl");
  const [copied, setCopied] = useState(false);
  const text = KINDS[kind](location.origin + path, JSON.stringify(request));
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return html`<${Dialog} close=${close} label=${t("copyAs")} kind="code-dialog">
    <h2>${t("copyAs")}</h2>
    <div class="chips">${Object.keys(KINDS).map((one) => html`<button class=${`chip${one === kind ? " active" : ""}`} aria-pressed=${one === kind} onClick=${() => setKind(one)}>${one}</button>`)}</div>
    <pre tabindex="0"><code>${text}</code></pre>
    <p class="dim">The key is read from the variable ATELIER_KEY.</p>
    <div class="row"><span class="space"></span><button class="button" onClick=${copy}>${copied ? t("copied") : t("copy")}</button></div>
  <//>`;
}
