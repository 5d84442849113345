// How values are shown to people: times in the viewer's zone, quota, durations, sizes, names.
import { language, many, maybe, t } from "./words.js";

/** A time of the service, which is in UTC without saying so. @param {string} text */
export const time = (text) => new Date(`${text.replace(" ", "T")}Z`);

/** @param {Intl.DateTimeFormatOptions} how */
const dates = (how) => new Intl.DateTimeFormat(language === "en" ? undefined : language, how);
const clock = dates({ hour: "numeric", minute: "2-digit", second: "2-digit" });
const short = dates({ hour: "numeric", minute: "2-digit" });
const date = dates({ day: "numeric", month: "short" });
const dateAndYear = dates({ day: "numeric", month: "short", year: "numeric" });
const dated = dates({ weekday: "long", day: "numeric", month: "long" });
const whole = dates({ dateStyle: "medium", timeZone: "UTC" });
const months = dates({ month: "long", year: "numeric", timeZone: "UTC" });
const exact = dates({ dateStyle: "full", timeStyle: "long" });
const number = new Intl.NumberFormat(language === "en" ? undefined : language, { maximumFractionDigits: 3 });

/** @param {unknown} value */
export const count = (value) => number.format(Number(value) || 0);
/** @param {number} part @param {number} whole */
export const percent = (part, whole) => (whole ? `${number.format(Math.round((part / whole) * 1000) / 10)} %` : "–");
/** How much more or less one amount is than another: `+ 12.5 %`. @param {number} was @param {number} now */
export const difference = (was, now) =>
  Number(was)
    ? `${
        Number(now) >= Number(was) ? "+" : "−"
      } ${number.format(Math.abs(Math.round((Number(now) / Number(was) - 1) * 1000) / 10))} %`
    : "–";
/** @param {string | null | undefined} text */
export const clockOf = (text) => (text ? clock.format(time(text)) : "");
/** @param {number} ms */
export const clockAt = (ms) => clock.format(new Date(ms));
/** @param {string | null | undefined} text */
export const exactly = (text) => (text ? exact.format(time(text)) : "");
/** A day as operators write it, `YYYY-MM-DD` or with a time, with its year. @param {string} text */
export const dateOf = (text) => whole.format(new Date(text));
/** A month, `2026-10`, by its name. @param {string} text */
export const monthName = (text) => months.format(new Date(`${text}-15T12:00:00Z`));
/** @param {string} text */
export const dayName = (text) => date.format(new Date(`${text}T12:00:00Z`));

/**
 * Short: today the time, otherwise the date as well, with its year where that is another one.
 * @param {string | null | undefined} text
 */
export function when(text) {
  if (!text) return "";
  const [moment, now] = [time(text), new Date()];
  if (moment.toDateString() === now.toDateString()) return short.format(moment);
  const day = moment.getFullYear() === now.getFullYear() ? date : dateAndYear;
  return `${day.format(moment)}, ${short.format(moment)}`;
}

/** The heading of a day. @param {string} text */
export function day(text) {
  const moment = time(text);
  const now = new Date();
  if (moment.toDateString() === now.toDateString()) return t("today");
  if (moment.toDateString() === new Date(now.getTime() - 86_400_000).toDateString()) return t("yesterday");
  return dated.format(moment);
}

/** 0.3 s, 18 s, 1 m 48 s, 2 h 3 m. @param {number} ms */
export function took(ms) {
  if (ms < 950) return `${count(Math.max(0, Math.round(ms / 100) / 10))} s`;
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} m`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
}

const tenths = new Intl.NumberFormat(language === "en" ? undefined : language, {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

/** @param {number} value */
export function bytes(value) {
  if (value < 1000) return `${value} B`;
  if (value < 1e6) return `${Math.round(value / 1000)} kB`;
  if (value < 1e9) return `${tenths.format(value / 1e6)} MB`;
  return `${tenths.format(value / 1e9)} GB`;
}

/**
 * What the job was asked for, in its own words; without any, what was done.
 * @param {Pick<Job, "request" | "operation">} job
 */
export function words(job) {
  const request = job.request || {};
  for (const name of ["prompt", "userPrompt", "user_prompt", "input"]) {
    if (typeof request[name] === "string" && request[name]) return request[name];
  }
  return typeof request.action === "string" ? actionName(request.action) : deed(job.operation);
}

/** @param {Job} job */
export const isFinal = (job) => job.status === "SUCCESS" || job.status === "FAILED";
/** @param {{ type: string }} file */
export const isVideo = (file) => file.type.startsWith("video/");
/** @param {{ type: string }} file */
export const isDrawing = (file) => file.type === "image/svg+xml";
/**
 * The small picture that the service keeps of a file, behind the same signature; and the one of a middle size.
 * @param {{ url: string }} file
 */
export const thumb = (file) => file.url.replace("/assets/", "/thumbs/");
/** @param {{ url: string }} file */
export const medium = (file) => `${thumb(file)}&size=medium`;

/** A picture of what a family makes. @param {string} family */
export const tile = (family) =>
  new URL(`./tiles/${family.toLowerCase().replace(/[^a-z]+/g, "-")}.webp`, import.meta.url).href;

/** The state of a job in a word. @param {Job} job */
export const state = (job) =>
  t(
    { SUCCESS: "done", FAILED: "failed", PENDING_QUEUE: "waiting" }[job.status] ||
      (job.startedAt ? "running" : "waiting"),
  );

/** @param {string} text */
const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?。]$/.test(text) ? "" : "."}`;

/**
 * What a field is called where a message begins with its name on the wire, as `targetImage: no face was found`.
 * @param {string | null | undefined} message
 */
export function readable(message) {
  const [, name, place, rest] = /^([a-z]\w*)(\[\d+\])?: (.*)$/s.exec(message || "") || [];
  if (!name || !maybe(`field.${name}`)) return message || "";
  const which = place ? ` ${Number(place.slice(1, -1)) + 1}` : "";
  return t("fieldSays", `${fieldName(name)}${which}`, rest);
}

/**
 * A failure without the word in brackets, which is for programs, as a sentence; elsewhere its kind says what happened.
 * @param {string | null | undefined} message
 */
export function why(message) {
  const [, kind, said] = /^(?:\[([^\]]*)\]\s*)?(.*)$/s.exec((message || "").trim()) || [];
  const text = readable(said).trim();
  const known = language === "en" ? "" : maybe(`kind.${kind || said}`);
  if (known) return [known, said && kind ? `(${text})` : ""].filter(Boolean).join(" ");
  return text ? sentence(text) : "";
}

/** What a vendor said, out of the envelope that it came in. @param {string | null | undefined} text */
export function said(text) {
  const plain = (text || "").replace(/\\"/g, '"');
  const [, before, inner] =
    /^([^{]*)\{.*?"(?:message|detail|error_message|msg)"\s*:\s*"((?:[^"\\]|\\.)+)"/s.exec(plain) || [];
  const shown = inner ? `${before}${inner}` : plain;
  return shown.replace(
    /\b(retry|rate|quota|dead|reject|bad_request|unable|model|gone|house|bug): /g,
    (_, fault) => `${t(`fault.${fault}`)}, `,
  );
}

/** camelCase and snake_case as words. @param {string} name */
export function label(name) {
  const spaced = name
    .replace(/[_.]/g, " ")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

/**
 * What a field, an operation and a follow-up are called by people; one without a name of its own is spelled out.
 * @param {string} name
 */
export const fieldName = (name) => maybe(`field.${name}`) || label(name);
/** What a value of a field is called by people. @param {unknown} value */
export const valueName = (value) => maybe(`value.${value}`) || String(value);
/** @param {string} operation */
export const deed = (operation) =>
  maybe(`do.${operation.split(".").slice(1).join(".")}`) ||
  maybe(`do.${operation.split(".").pop()}`) ||
  label(/** @type {string} */ (operation.split(".").pop()));
/** What an operator or a caller did, as the audit record names it. @param {string} name */
export const act = (name) => maybe(`audit.${name}`) || name;
/** @param {string} name */
export const actionName = (name) => maybe(`act.${name}`) || label(name);
/** @param {unknown} value */
export const quotaOf = (value) => many(Number(value), "quotaOne", "quotaMany", count(value));
