// What can be done with a result: the follow-ups that the job itself names, sorted to where they belong on the picture.
import { label } from "../show.js";

/** The names a finished job offers. */
export const offered = (job) => job.result?.data?.components || [];

const EDGES = { pan_left: "←", pan_right: "→", pan_up: "↑", pan_down: "↓" };
const NAMES = { reroll: "Reroll", high_variation: "Vary strongly", low_variation: "Vary subtly", zoom_out_2: "Zoom out 2×", zoom_out_1_5: "Zoom out 1.5×", make_square: "Make square" };

/** Follow-ups of one picture of a grid, of the edges, and of the whole. */
export function sorted(job) {
  const quarters = [[], [], [], []];
  const edges = [];
  const whole = [];
  for (const name of offered(job)) {
    const quarter = /^(upsample|variation)([1-4])$/.exec(name);
    if (quarter) quarters[Number(quarter[2]) - 1].push({ name, text: quarter[1] === "upsample" ? "Upscale" : "Vary" });
    else if (EDGES[name]) edges.push({ name, text: EDGES[name] });
    else whole.push({ name, text: NAMES[name] || label(name) });
  }
  return { quarters, edges, whole };
}
