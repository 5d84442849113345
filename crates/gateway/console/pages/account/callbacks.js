// Callbacks: the secret they are signed with, a tester, and every one of them with its tries.
import { html, useEffect, useState } from "../../lib.js";
import { t } from "../../words.js";
import { get, post } from "../../api.js";
import { go, href } from "../../route.js";
import { Ask } from "../../parts/ask.js";
import { CallbackTries } from "../../parts/callback_tries.js";
import { Copy } from "../../parts/copy.js";
import { DateRange, rangeOf } from "../../parts/date_range.js";
import { Dialog } from "../../parts/dialog.js";
import { Paged, Time, usePages } from "../../parts/table.js";

function SigningSecret() {
  const [secret, setSecret] = useState(/** @type {string | null} */ (null));
  const [asking, setAsking] = useState(false);
  const [problem, setProblem] = useState("");
  const show = () =>
    get("/account/v1/callbacks/secret").then(
      ({ data }) => setSecret(data.secret),
      (error) => setProblem(error.message),
    );
  return html`<section class="card"><h2>${t("signing")}</h2>
    <p class="dim">${t("signingText")} <a href="/docs/guide/callbacks">${t("howToCheck")}</a></p>
    ${secret && html`<pre class="secret" tabindex="0"><code>${secret}</code></pre>`}
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <div class="row">
      ${
        secret
          ? html`<${Copy} text=${secret} />`
          : html`<button class="button quiet" onClick=${show}>${t("showSecret")}</button>`
      }
          <button class="button quiet" onClick=${() => setAsking(true)}>${t("rotate")}</button></div>
    ${
      asking &&
      html`<${Ask} title=${t("rotate")} text=${t("rotateText")} action=${t("rotate")} fields=${[]}
        close=${() => setAsking(false)}
      act=${async () => {
        const { data } = await post("/account/v1/callbacks/secret");
        setSecret(data.secret);
      }} />`
    }
        </section>`;
}

function Tester() {
  const [busy, setBusy] = useState(false);
  const [sample, setSample] = useState(/** @type {Wire.Sample | null} */ (null));
  const [problem, setProblem] = useState("");
  const send = async (/** @type {On} */ event) => {
    event.preventDefault();
    setBusy(true);
    setProblem("");
    setSample(null);
    const address = /** @type {HTMLInputElement} */ (event.target.elements.namedItem("url"));
    try {
      setSample((await post("/account/v1/callbacks/sample", { url: address.value.trim() })).data);
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    }
    setBusy(false);
  };
  return html`<section class="card"><h2>${t("tester")}</h2><p class="dim">${t("testerText")}</p>
    <form class="row" onSubmit=${send}>
      <input class="grow" name="url" type="url" required placeholder="https://example.com/hook"
        aria-label=${t("address")} /><button class="button" disabled=${busy}>
          ${busy ? t("sending") : t("sendSample")}</button></form>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      sample &&
      html`<div class="sample" role="status">
        <p><span class=${`tag ${sample.delivered ? "delivered" : "exhausted"}`}>
          ${sample.delivered ? t("taken") : t("notTaken")}</span> <b>
            ${sample.status ?? sample.error}</b> <span class="dim">${sample.durationMs} ms</span></p>
      ${sample.answer && html`<pre tabindex="0"><code>${sample.answer}</code></pre>`}
      <details><summary>${t("whatWasSent")}</summary>
        <pre tabindex="0">
          <code>${Object.entries(sample.headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join("\n")}\n\n${sample.body}</code></pre></details></div>`
    }</section>`;
}

/** @param {{ id: string, close: () => void }} given */
function One({ id, close }) {
  const [callback, setCallback] = useState(/** @type {Wire.CallbackLog | null} */ (null));
  const read = () =>
    get(`/account/v1/callbacks/${encodeURIComponent(id)}`).then(({ data }) => setCallback(data), close);
  useEffect(() => {
    read();
  }, [id]);
  return html`<${Dialog} close=${close} label=${t("callbacks")} kind="code-dialog"><h2>${t("callbacks")}</h2>
    ${callback && html`<${CallbackTries} callback=${callback} again=${read} />`}
    <div class="row"><span class="space"></span><button class="button" onClick=${close}>${t("close")}</button></div>
      <//>`;
}

/** @param {{ route: Route }} given */
export function Callbacks({ route }) {
  const span = rangeOf(route.query, 0);
  const pages = usePages(`/account/v1/callbacks${span.asked ? `?${span.asked.slice(1)}` : ""}`, 20);
  const [open, setOpen] = useState("");
  return html`<div class="columns"><${SigningSecret} /><${Tester} /></div>
    <section class="card flush"><header class="inner"><h2>${t("sentCallbacks")}</h2>
      <${DateRange} range=${span} usual=${0}
      change=${(more) => go("account", { ...route.query, ...more }, { replace: true })} /></header>
    <${Paged} pages=${pages} caption=${t("callbacks")} empty=${span.asked ? t("nothingFound") : t("noCallbacks")}
      columns=${
        /** @type {Column<Wire.Callback>[]} */ ([
          {
            title: t("address"),
            show: (row) =>
              html`<span class="break">${row.url}</span> <a class="dim block code" href=${href(`job/${row.jobId}`)}>
            ${row.jobId}</a>`,
          },
          {
            title: t("status"),
            show: (row) => html`<span class=${`tag ${row.status}`}>${t(`callback.${row.status}`)}</span>
        ${row.lastError ? html`<span class="dim block break">${row.lastError}</span>` : ""}`,
          },
          { title: t("tries"), number: true, show: (row) => row.attempts },
          { title: t("when"), show: (row) => html`<${Time} at=${row.createdAt} />` },
          {
            title: "",
            show: (row) => html`<button class="button quiet" onClick=${() => setOpen(row.id)}>${t("details")}</button>`,
          },
        ])
      } /></section>
    ${
      open &&
      html`<${One} id=${open} close=${() => {
        setOpen("");
        pages.again();
      }} />`
    }`;
}
