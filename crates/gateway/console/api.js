// Calls to the service. The session is a cookie that scripts cannot read; what changes something also carries the
// token that the service gave for this session. A lost connection is tried again, a refusal never is.

import { language, maybe, t } from "./words.js";
import { readable } from "./show.js";
import { dropDraft } from "./draft.js";

/** What a refusal says. */
export class Refused extends Error {
  /** @param {number} status @param {Json} body */
  constructor(status, body) {
    super(body?.error?.message || body?.message || t("answeredWith", status));
    this.status = status;
    this.code = body?.code || body?.error?.code || null;
    this.field = body?.param || body?.error?.param || null;
    this.message = readable(this.message);
    // The service speaks English; what to do is known in every language.
    const advice = language === "en" ? "" : maybe(`fix.${this.code}`);
    if (advice) this.message = `${advice} (${this.message})`;
  }
}

let csrf = "";
let leave = () => {};
/** @type {Set<(now: boolean) => void>} */
const watchers = new Set();
let connected = true;

/** Says what to do when the session has ended. @param {() => void} action */
export const onSignedOut = (action) => {
  leave = action;
};

/** Calls back whenever the connection is lost or found again. @param {(now: boolean) => void} action */
export function onConnection(action) {
  watchers.add(action);
  return () => {
    watchers.delete(action);
  };
}

// Nothing else may ask for a while, so that a network that is back is tried at once.
addEventListener("online", () => {
  if (!connected) send("GET", "/console/session").catch(() => {});
});

/** Says whether the service was reached. @param {boolean} now */
export function tellConnection(now) {
  if (now === connected) return;
  connected = now;
  for (const action of watchers) action(now);
}

/** @param {number} ms */
const pause = (ms) =>
  new Promise((wake) => {
    setTimeout(wake, ms);
  });

/** @param {string} method @param {string} path @param {unknown} [body] @param {Record<string, string>} [headers] */
async function send(method, path, body = undefined, headers = {}) {
  /** @type {Record<string, string>} */
  const sent = { Accept: "application/json", ...headers };
  /** @type {RequestInit} */
  const init = { method, headers: sent, credentials: "same-origin" };
  if (csrf && method !== "GET") sent["X-CSRF-Token"] = csrf;
  if (body instanceof FormData) init.body = body;
  else if (body !== undefined) {
    init.body = JSON.stringify(body);
    sent["Content-Type"] = "application/json";
  }
  let answer;
  try {
    answer = await fetch(path, init);
  } catch (error) {
    tellConnection(false);
    throw error;
  }
  tellConnection(true);
  const json = await answer.json().catch(() => null);
  if (!answer.ok) {
    if (answer.status === 401 && !path.startsWith("/console/session") && !path.startsWith("/auth/v1/link")) leave();
    throw new Refused(answer.status, json);
  }
  return json;
}

/**
 * Reads; a connection that is lost is tried again until it heals or nobody waits Json more.
 * @template {string} P @param {P} path @returns {Promise<Answer<"get", P>>}
 */
export async function get(path, { rounds = 6 } = {}) {
  for (let round = 0; ; round += 1) {
    try {
      return await send("GET", path);
    } catch (error) {
      if (error instanceof Refused || round === rounds) throw error;
      await pause(Math.min(300 * 2 ** round, 5000));
    }
  }
}

/**
 * Changes something.
 * @template {string} P @param {P} path @param {unknown} [body] @param {Record<string, string>} [headers]
 * @returns {Promise<Answer<"post", P>>}
 */
export const post = (path, body = undefined, headers = undefined) => send("POST", path, body, headers);
/** @template {string} P @param {P} path @param {unknown} body @returns {Promise<Answer<"patch", P>>} */
export const patch = (path, body) => send("PATCH", path, body);
/** @template {string} P @param {P} path @param {unknown} body @returns {Promise<Answer<"put", P>>} */
export const put = (path, body) => send("PUT", path, body);
/** @template {string} P @param {P} path @returns {Promise<Answer<"delete", P>>} */
export const remove = (path) => send("DELETE", path);

/** Keys of submits that were never answered: sent once more, such a one finds the job that it may have made. */
/** @type {Map<string, string>} */
const unanswered = new Map();
const SUBMIT_ROUNDS = 4;

/**
 * Submits work once, however often the connection is lost: the same key finds the same job. `lost` hears of it at once.
 * @param {string} path @param {unknown} body @returns {Promise<{ jobId: string } & Record<string, Json>>}
 */
export async function submit(path, body, lost = () => {}) {
  const name = `${path} ${JSON.stringify(body)}`;
  const key = unanswered.get(name) || crypto.randomUUID();
  unanswered.delete(name);
  for (let round = 0; ; round += 1) {
    try {
      return await post(path, body, { "Idempotency-Key": key });
    } catch (error) {
      if (error instanceof Refused) throw error;
      lost();
      if (round === SUBMIT_ROUNDS) {
        unanswered.set(name, key);
        throw new Error(t("notSent"));
      }
      await pause(400 * 2 ** round);
    }
  }
}

/**
 * Puts a file into the asset store; its address is taken by every picture field of the same account.
 * @param {File | Blob} file
 */
export async function upload(file) {
  const form = new FormData();
  form.append("file", file);
  const { data } = await post("/files/v1", form);
  return data.url;
}

/** Who is signed in, or null. @returns {Promise<Who | null>} */
export async function session() {
  const { data } = await send("GET", "/console/session");
  csrf = data?.csrf || "";
  return data;
}

/** @param {string} secret @returns {Promise<Who>} */
export async function signIn(secret) {
  const { data } = await send("POST", "/console/session", { secret });
  csrf = data.csrf;
  return data;
}

/** The ways to sign in that are there. @returns {Promise<Wire.Ways>} */
export const ways = async () => (await send("GET", "/auth/v1/ways")).data;

/** Asks for a link to sign in. @param {string} email @param {string} language */
export const askLink = (email, language) => send("POST", "/auth/v1/link", { email, language });

/** Signs in by the code that a link shows in another browser. @param {string} code @returns {Promise<Who>} */
export async function enterCode(code) {
  const { data } = await send("POST", `/auth/v1/link/${encodeURIComponent(code)}`);
  csrf = data.csrf;
  return data;
}

/** Has the session stand for another account of the person's. @param {string} id @returns {Promise<Who>} */
export async function chooseAccount(id) {
  const { data } = await send("POST", "/auth/v1/account", { id });
  dropDraft();
  csrf = data.csrf;
  return data;
}

export async function signOut(everywhere = false) {
  await send("DELETE", `/console/session${everywhere ? "?everywhere=true" : ""}`);
  dropDraft();
  csrf = "";
}

/** Looks at an account with its own eyes, as an operator may; and stops doing so. @param {string} accountId */
export async function visit(accountId) {
  const { data } = await send("POST", `/admin/v1/accounts/${encodeURIComponent(accountId)}/visit`);
  csrf = data.csrf;
  return data;
}

export async function endVisit() {
  await send("DELETE", "/console/session?visit=true");
  return session();
}
