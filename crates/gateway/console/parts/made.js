// What the account made lately, followed while it runs.
import { useEffect, useRef, useState } from "../lib.js";
import { isFinal } from "../show.js";
import { get } from "../api.js";
import { follow as followJob, onJobs } from "../events.js";

/** So many jobs are shown at first. */
export const RECENT = 12;
const MOST = 40;

export function useMade() {
  const [jobs, setJobs] = useState(/** @type {Job[] | null} */ (null));
  const followed = useRef(/** @type {Map<string, () => void>} */ (new Map()));
  const put = (/** @type {Job} */ job) =>
    setJobs((old) => {
      const known = (old || []).some((one) => one.jobId === job.jobId);
      // News of a job leave out what was asked; one that is not here yet comes whole with the first answer.
      if (!known && !job.request) return old;
      const merged = (/** @type {Job} */ one) => (one.jobId === job.jobId ? { ...one, ...job } : one);
      return known && old ? old.map(merged) : [job, ...(old || [])].slice(0, MOST);
    });
  const watch = (/** @type {string} */ id) => {
    if (!followed.current.has(id)) followed.current.set(id, followJob(id, put));
  };
  const drop = (/** @type {string} */ id) => setJobs((old) => (old || []).filter((one) => one.jobId !== id));
  useEffect(() => {
    get(`/jobs/v1?limit=${RECENT}`).then(
      ({ data }) => {
        setJobs(data);
        for (const job of data) if (!isFinal(job)) watch(job.jobId);
      },
      () => setJobs([]),
    );
    // What another page or a program of the same account makes appears here as well.
    const leave = onJobs((job) => {
      if (!isFinal(job)) watch(job.jobId);
    });
    return () => {
      leave();
      for (const stop of followed.current.values()) stop();
    };
  }, []);
  return { jobs, watch, drop };
}
