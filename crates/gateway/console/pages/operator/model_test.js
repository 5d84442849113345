// A test call: a real job of a chosen account, at the price that is shown before. The operator's own session makes no
// jobs, so the account gets a key for it that ends by itself and is revoked when the test is closed.
import { html, useEffect, useRef, useState } from "../../lib.js";
import { t } from "../../words.js";
import { count, deed, isFinal, quotaOf, state, why } from "../../show.js";
import { Refused, get, post, remove } from "../../api.js";
import { href } from "../../route.js";
import { promptOf } from "../../catalogue.js";
import { modelField } from "../../parts/likes.js";
import { Dialog } from "../../parts/dialog.js";
import { Media, shown } from "../../parts/media.js";

/** How long the key works when nobody closes the test. */
const MINUTES = 20;
const EVERY_MS = 1000;

/** @param {number} ms */
const pause = (ms) =>
  new Promise((wake) => {
    setTimeout(wake, ms);
  });

/**
 * A call with the account's key and without the operator's session.
 * @param {string} key @param {string} path @param {Values} [body] @param {Record<string, string>} [headers]
 */
async function call(key, path, body = undefined, headers = {}) {
  /** @type {RequestInit} */
  const init = {
    method: body ? "POST" : "GET",
    credentials: "omit",
    headers: {
      Accept: "application/json",
      "SVC-API-KEY": key,
      ...(body ? { "Content-Type": "application/json" } : {}),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  };
  const answer = await fetch(path, init);
  const json = await answer.json().catch(() => null);
  if (!answer.ok) throw new Refused(answer.status, json);
  return json;
}

/**
 * What is sent: the words, what has to be there as the example has it, and the model.
 * @param {Operation} operation @param {Wire.SoldModel} row @param {string} words
 */
function requestOf(operation, row, words) {
  const needed = operation.fields.filter((field) => field.required && operation.example[field.name] !== undefined);
  const prompt = promptOf(operation);
  return {
    ...Object.fromEntries(needed.map((field) => [field.name, operation.example[field.name]])),
    ...(prompt ? { [prompt.name]: words } : {}),
    [modelField(operation)?.name || "model"]: row.name,
  };
}

/** The key of a test: issued once for an account, revoked when another one is chosen or the test is closed. */
function useKey() {
  /** @type {Ref<Kept | null>} */
  const kept = useRef(null);
  const drop = () => {
    const key = kept.current;
    kept.current = null;
    if (key) remove(`/admin/v1/accounts/${encodeURIComponent(key.account)}/keys/${key.id}`).catch(() => {});
  };
  useEffect(() => drop, []);
  const take = async (/** @type {string} */ account, /** @type {string} */ name) => {
    if (kept.current?.account === account) return kept.current.secret;
    drop();
    const expiresAt = new Date(Date.now() + MINUTES * 60_000).toISOString().slice(0, 19).replace("T", " ");
    const { data } = await post(`/admin/v1/accounts/${encodeURIComponent(account)}/keys`, {
      name,
      scopes: ["submit", "read"],
      expiresAt,
    });
    kept.current = { account, id: data.id, secret: data.api_key };
    return data.api_key;
  };
  return take;
}

/** @param {{ row: Wire.SoldModel, like: Like, close: () => void }} given */
export function ModelTest({ row, like, close }) {
  const operations = like.operations.filter((one) => !one.follows);
  const [accounts, setAccounts] = useState(/** @type {Wire.Account[]} */ ([]));
  const [account, setAccount] = useState("");
  const [operation, setOperation] = useState(operations[0]);
  const [words, setWords] = useState(
    String(operations[0]?.example[promptOf(operations[0])?.name || ""] || t("example.1")),
  );
  const [price, setPrice] = useState(/** @type {number | null} */ (null));
  const [job, setJob] = useState(/** @type {Job | null} */ (null));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const open = useRef(true);
  const keyOf = useKey();
  useEffect(() => {
    get("/admin/v1/accounts?limit=100").then(
      ({ data }) => {
        const able = data.filter((one) => !one.disabled);
        setAccounts(able);
        setAccount(able[0]?.id || "");
      },
      (error) => setProblem(error.message),
    );
    return () => {
      open.current = false;
    };
  }, []);
  useEffect(() => {
    setPrice(null);
    setProblem("");
  }, [account, operation, words]);
  const act = async (/** @type {(key: string) => unknown} */ work) => {
    setBusy(true);
    setProblem("");
    try {
      await work(await keyOf(account, t("testKey", row.name)));
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    }
    setBusy(false);
  };
  const choose = (/** @type {string} */ name) =>
    setOperation(/** @type {Operation} */ (operations.find((one) => one.name === name)));
  const request = () => requestOf(operation, row, words);
  const ask = () =>
    act(async (key) =>
      setPrice((await call(key, "/account/v1/quote", { operation: operation.name, request: request() })).data.quota),
    );
  const make = () =>
    act(async (key) => {
      const answer = await call(key, operation.path, request(), {
        Prefer: "respond-async",
        "Idempotency-Key": crypto.randomUUID(),
      });
      const id =
        answer.data?.jobId || answer.jobId || answer.id || (await call(key, "/jobs/v1?limit=1")).data[0]?.jobId;
      while (open.current) {
        const { data } = await call(key, `/jobs/v1/${encodeURIComponent(id)}`);
        setJob(data);
        if (isFinal(data)) return;
        await pause(EVERY_MS);
      }
    });
  return html`<${Dialog} close=${close} label=${t("testOf", row.name)} kind="wide-dialog">
    <h2 class="break">${t("testOf", row.name)}</h2><p class="dim about">${t("testText")}</p>
    <form onSubmit=${(event) => {
      event.preventDefault();
      if (price === null) ask();
      else make();
    }}>
      <div class="two"><div class="field"><label for="test-account">${t("account")}</label>
        <select id="test-account" required disabled=${busy} value=${account}
          onChange=${(event) => setAccount(event.target.value)}>
            ${accounts.map((one) => html`<option value=${one.id}>${one.email} · ${quotaOf(one.balance)}</option>`)}
              </select></div>
      ${
        operations.length > 1 &&
        html`<div class="field"><label for="test-operation">${t("way")}</label>
          <select id="test-operation" disabled=${busy} value=${operation.name}
            onChange=${(event) => choose(event.target.value)}>
              ${operations.map((one) => html`<option value=${one.name}>${deed(one.name)} (${one.name})</option>`)}
                </select></div>`
      }</div>
      ${
        promptOf(operation) &&
        html`<div class="field"><label for="test-words">${t("whatShow")}</label>
          <textarea id="test-words" rows="2" required disabled=${busy} value=${words}
            onInput=${(event) => setWords(event.target.value)}></textarea></div>`
      }
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      ${
        job &&
        html`<div class="test-result" role="status">
        <p><b>${state(job)}</b> · ${t("paid")} ${count(job.quota)} · <a href=${href(`job/${job.jobId}`)}>${t("Job")}</a>
          </p>${job.status === "FAILED" && html`<p class="problem">${why(job.message)} ${t("cameBack")}</p>`}
        <div class="made-row n1">
          ${shown(job)
            .slice(0, 1)
            .map(
              (file) => html`<figure class="made" key=${file.url}>
              <${Media} file=${file} alt=${words} controls=${true} waits=${true} /></figure>`,
            )}</div></div>`
      }
      <div class="row"><span class="space"></span><button type="button" class="button quiet" onClick=${close}>
        ${t("close")}</button>
        <button class="button" disabled=${busy || !account}>
          ${price === null ? t("testPrice") : html`<b>${t("makeIt")}</b> <span>${quotaOf(price)}</span>`}</button></div>
    </form><//>`;
}
