// Calls to the service. The session is a cookie that scripts cannot read; what changes something also carries the
// token that the service gave for this session. A lost connection is tried again, a refusal never is.

/** What a refusal says. */
export class Refused extends Error {
  constructor(status, body) {
    super(body?.message || `The service answered with ${status}.`);
    this.status = status;
    this.code = body?.code || body?.error?.code || null;
    this.field = body?.param || body?.error?.param || null;
    if (body?.error?.message) this.message = body.error.message;
  }
}

let csrf = "";
let leave = () => {};

/** Says what to do when the session has ended. */
export const onSignedOut = (action) => { leave = action; };

const pause = (ms) => new Promise((wake) => setTimeout(wake, ms));

async function send(method, path, body, headers = {}) {
  const init = { method, headers: { Accept: "application/json", ...headers }, credentials: "same-origin" };
  if (csrf && method !== "GET") init.headers["X-CSRF-Token"] = csrf;
  if (body instanceof FormData) init.body = body;
  else if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers["Content-Type"] = "application/json";
  }
  const answer = await fetch(path, init);
  const json = await answer.json().catch(() => null);
  if (!answer.ok) {
    if (answer.status === 401 && !path.startsWith("/console/session")) leave();
    throw new Refused(answer.status, json);
  }
  return json;
}

/** Reads; a connection that is lost for a moment is tried again. */
export async function get(path) {
  for (let round = 0; ; round += 1) {
    try {
      return await send("GET", path);
    } catch (error) {
      if (error instanceof Refused || round === 4) throw error;
      await pause(300 * 2 ** round);
    }
  }
}

/** Changes something. */
export const post = (path, body, headers) => send("POST", path, body, headers);
export const patch = (path, body) => send("PATCH", path, body);
export const put = (path, body) => send("PUT", path, body);
export const remove = (path) => send("DELETE", path);

/** Submits work once, however often the connection is lost: the same key finds the same job. */
export async function submit(path, body) {
  const key = crypto.randomUUID();
  for (let round = 0; ; round += 1) {
    try {
      return await post(path, body, { "Idempotency-Key": key });
    } catch (error) {
      if (error instanceof Refused || round === 4) throw error;
      await pause(400 * 2 ** round);
    }
  }
}

/** Who is signed in, or null. */
export async function session() {
  const { data } = await send("GET", "/console/session");
  csrf = data?.csrf || "";
  return data;
}

export async function signIn(secret) {
  const { data } = await send("POST", "/console/session", { secret });
  csrf = data.csrf;
  return data;
}

export async function signOut(everywhere) {
  await send("DELETE", `/console/session${everywhere ? "?everywhere=true" : ""}`);
  csrf = "";
}

/** Follows a job until it is final; calls back with every change. Ends by itself, or with the function it returns. */
export function follow(id, changed) {
  let stopped = false;
  (async () => {
    for (let wait = 400; !stopped; wait = Math.min(wait * 1.3, 3000)) {
      try {
        const { data } = await get(`/jobs/v1/${encodeURIComponent(id)}`);
        if (stopped) return;
        changed(data);
        if (data.status === "SUCCESS" || data.status === "FAILED") return;
      } catch (error) {
        if (error instanceof Refused && error.status === 404) return;
      }
      await pause(wait);
    }
  })();
  return () => { stopped = true; };
}
