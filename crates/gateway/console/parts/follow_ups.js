// What can be done with a result: what the job itself offers, sorted to where it belongs on the picture, and the
// operations of its family that carry on an earlier job.
import { actionName } from "../show.js";

/** The names a finished job offers. @param {Job} job @returns {string[]} */
export const offered = (job) => job.result?.data?.components || [];

/** @type {Record<string, string>} */
const EDGES = { pan_left: "←", pan_right: "→", pan_up: "↑", pan_down: "↓" };

/** Follow-ups of one picture of a grid, of the edges, and of the whole. @param {Job} job */
export function sorted(job) {
  /** @type {{ name: string, text: string }[][]} */
  const quarters = [[], [], [], []];
  const edges = [];
  const whole = [];
  for (const name of offered(job)) {
    const quarter = /^([a-z]+)([1-4])$/.exec(name);
    if (quarter && ["upsample", "variation"].includes(quarter[1]))
      quarters[Number(quarter[2]) - 1].push({ name, text: actionName(quarter[1]) });
    else if (EDGES[name]) edges.push({ name, text: EDGES[name] });
    else whole.push({ name, text: actionName(name) });
  }
  return { quarters, edges, whole };
}
