// What happens to the account's jobs, told by the service as it happens. One stream serves every page; it is closed
// while nobody looks, opened again by itself when it was lost, and whoever follows a job asks once whenever it opens.
import { get, Refused, tellConnection } from "./api.js";

const AGAIN_MS = 2000;
/** Without a stream, a followed job is asked about this often. */
const LOOK_MS = 2500;

/** @type {Set<{ job: (job: Job) => void, opened: () => void }>} */
const followers = new Set();
/** @type {EventSource | null} */
let source = null;
let open = false;
let wanted = false;
let timer = 0;

/** @param {MessageEvent} event */
const told = (event) => {
  const job = JSON.parse(event.data);
  for (const one of followers) one.job(job);
};

function connect() {
  clearTimeout(timer);
  if (source || !wanted || document.hidden) return;
  source = new EventSource("/jobs/v1/events");
  source.addEventListener("job", told);
  source.addEventListener("open", () => {
    open = true;
    tellConnection(true);
    for (const one of followers) one.opened();
  });
  source.addEventListener("error", () => {
    open = false;
    tellConnection(false);
    // A browser gives up for good when it is refused; the reason may pass.
    if (source?.readyState === EventSource.CLOSED) {
      disconnect();
      timer = window.setTimeout(connect, AGAIN_MS);
    }
  });
}

function disconnect() {
  source?.close();
  source = null;
  open = false;
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) disconnect();
  else connect();
});
addEventListener("online", () => {
  disconnect();
  connect();
});
addEventListener("offline", () => {
  disconnect();
  tellConnection(false);
});

/** Begins and ends with the session of an account. @param {boolean} whether */
export function listen(whether) {
  wanted = whether;
  if (wanted) connect();
  else {
    clearTimeout(timer);
    disconnect();
  }
}

/**
 * Calls back with every change of any job, without what was asked, and whenever the stream opens.
 * @param {(job: Job) => void} job
 */
export function onJobs(job, opened = () => {}) {
  const one = { job, opened };
  followers.add(one);
  return () => {
    followers.delete(one);
  };
}

/**
 * Follows a job until it is final; calls back with every change. Ends by itself, or with the function it returns.
 * @param {string} id @param {(job: Job) => void} changed
 */
export function follow(id, changed) {
  let stopped = false;
  let look = 0;
  const stop = () => {
    stopped = true;
    clearTimeout(look);
    leave();
  };
  const take = (/** @type {Job} */ job) => {
    if (stopped) return;
    changed(job);
    if (job.status === "SUCCESS" || job.status === "FAILED") stop();
  };
  const ask = async () => {
    clearTimeout(look);
    try {
      take((await get(`/jobs/v1/${encodeURIComponent(id)}`)).data);
    } catch (error) {
      if (error instanceof Refused && error.status !== 429 && error.status < 500) stop();
    }
    if (!stopped) look = window.setTimeout(patient, LOOK_MS);
  };
  const patient = () => {
    if (open) look = window.setTimeout(patient, LOOK_MS);
    else ask();
  };
  const leave = onJobs((job) => {
    if (job.jobId === id) take(job);
  }, ask);
  ask();
  return stop;
}
