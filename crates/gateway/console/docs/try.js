// Try an operation: with the session of the console, or with a key that stays in this field and is sent with this call.
import { html, useState } from "../lib.js";
import { t } from "../words.js";

/** The proof of a session, if somebody is signed in. */
async function proof() {
  const answer = await fetch("/console/session");
  const { data } = await answer.json();
  return data?.csrf || "";
}

/** @param {{ one: Described, example: Json, parameters: Parameter[] }} given */
export function Try({ one, example, parameters }) {
  const [answer, setAnswer] = useState(/** @type {Reply | null} */ (null));
  const [busy, setBusy] = useState(false);
  const send = async (/** @type {On} */ event) => {
    event.preventDefault();
    const form = /** @type {Record<string, Json>} */ (event.target.elements);
    setBusy(true);
    setAnswer(null);
    try {
      let path = one.path;
      const query = new URLSearchParams();
      for (const parameter of parameters) {
        const value = form[`p-${parameter.name}`]?.value.trim();
        if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, encodeURIComponent(value));
        else if (value) query.set(parameter.name, value);
      }
      const key = form.key.value.trim();
      /** @type {Record<string, string>} */
      const headers = { Accept: "application/json" };
      if (key)
        headers[one.security?.[0]?.operator ? "Authorization" : "SVC-API-KEY"] = one.security?.[0]?.operator
          ? `Bearer ${key}`
          : key;
      else if (one.method !== "get" || one.security?.[0]?.key?.[0] === "submit")
        headers["X-CSRF-Token"] = await proof();
      const body = form.body && one.method !== "get" && one.method !== "delete" ? form.body.value : undefined;
      if (body !== undefined) headers["Content-Type"] = "application/json";
      const begun = performance.now();
      const reply = await fetch(path + (query.size ? `?${query}` : ""), {
        method: one.method.toUpperCase(),
        headers,
        body,
        credentials: key ? "omit" : "same-origin",
      });
      const text = await reply.text();
      let shown = text;
      try {
        shown = JSON.stringify(JSON.parse(text), null, 2);
      } catch {
        /* not everything is JSON */
      }
      setAnswer({
        good: reply.ok,
        status: reply.status,
        ms: Math.round(performance.now() - begun),
        text: shown.slice(0, 20_000),
      });
    } catch (error) {
      setAnswer({ good: false, status: "–", ms: 0, text: /** @type {Error} */ (error).message });
    }
    setBusy(false);
  };
  const id = (/** @type {string} */ name) => `try-${one.operationId}-${name}`;
  return html`<form class="docs-try" onSubmit=${send}>
    <div class="field"><label for=${id("key")}>${t("docs.yourKey")}</label>
      <input id=${id("key")} name="key" type="password" autocomplete="off" placeholder=${t("docs.orSession")} /></div>
    ${parameters.map(
      (parameter) => html`<div class="field"><label for=${id(parameter.name)}><code>${parameter.name}</code></label>
        <input id=${id(parameter.name)} name=${`p-${parameter.name}`} required=${parameter.required} /></div>`,
    )}
    ${
      example &&
      html`<div class="field"><label for=${id("body")}>${t("docs.body")}</label>
        <textarea id=${id("body")} name="body" class="code" rows="6" spellcheck="false">
          ${JSON.stringify(example, null, 2)}</textarea></div>`
    }
    <div class="row"><button class="button" disabled=${busy}>${busy ? t("sending") : t("docs.send")}</button>
      ${one["x-makes"] && html`<span class="dim">${t("docs.costs")}</span>`}</div>
    ${
      answer &&
      html`<div role="status">
        <p><span class=${`tag ${answer.good ? "delivered" : "exhausted"}`}>${answer.status}</span> <span class="dim">
          ${answer.ms} ms</span></p><pre tabindex="0"><code>${answer.text}</code></pre></div>`
    }
  </form>`;
}
