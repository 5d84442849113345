// What a job made, piece by piece: four pictures that came as one are four pieces.
import { isDrawing, isVideo } from "../show.js";
import { sorted } from "./follow_ups.js";
import { shown } from "./media.js";

/** @returns {Piece[]} @param {Job} job */
export function pieces(job) {
  const files = shown(job);
  const [file] = files;
  const still = files.length === 1 && !isVideo(file) && !isDrawing(file);
  if (still && sorted(job).quarters.every((names) => names.length > 0)) {
    return [1, 2, 3, 4].map((quarter) => ({ key: `${job.jobId} q${quarter}`, job, file, quarter, place: quarter - 1 }));
  }
  return files.map((one, place) => ({ key: `${job.jobId} ${place}`, job, file: one, quarter: 0, place }));
}

/** Whether it is a picture of dots that other operations can take. @param {{ file: JobFile }} given */
export const isStill = ({ file }) => !isVideo(file) && !isDrawing(file);
