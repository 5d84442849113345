// How values are shown to people: times in the viewer's zone, quota, durations, sizes.
import { t } from "./words.js";

/** A time of the service, which is in UTC without saying so. */
export const time = (text) => (text ? new Date(`${text.replace(" ", "T")}Z`) : null);

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const short = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const date = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dated = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 3 });

export const count = (value) => number.format(Number(value) || 0);
export const clockOf = (text) => (text ? clock.format(time(text)) : "");
export const exactly = (text) => (text ? exact.format(time(text)) : "");

/** Short: today the time, otherwise the date as well. */
export function when(text) {
  const moment = time(text);
  if (!moment) return "";
  const today = moment.toDateString() === new Date().toDateString();
  return today ? short.format(moment) : `${date.format(moment)}, ${short.format(moment)}`;
}

/** The heading of a day. */
export function day(text) {
  const moment = time(text);
  const now = new Date();
  if (moment.toDateString() === now.toDateString()) return t("today");
  if (moment.toDateString() === new Date(now.getTime() - 86_400_000).toDateString()) return t("yesterday");
  return dated.format(moment);
}

/** 0:18, 1 m 48 s, 2 h 3 m. */
export function took(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} m`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
}

export function bytes(value) {
  if (value < 1000) return `${value} B`;
  if (value < 1e6) return `${Math.round(value / 1000)} kB`;
  return `${(value / 1e6).toFixed(1)} MB`;
}

/** What the job was asked for, in its own words. */
export function words(job) {
  const request = job.request || {};
  for (const name of ["prompt", "userPrompt", "user_prompt", "input"]) {
    if (typeof request[name] === "string" && request[name]) return request[name];
  }
  return job.operation;
}

export const isFinal = (job) => job.status === "SUCCESS" || job.status === "FAILED";
export const isVideo = (file) => file.type.startsWith("video/");

/** A failure without the word in brackets, which is for programs. */
export const why = (message) => (message || "").replace(/^\[[^\]]*\]\s*/, "");

/** camelCase and snake_case as words. */
export function label(name) {
  const spaced = name.replace(/_/g, " ").replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
