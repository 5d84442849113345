// Several files as one archive: a ZIP whose files are stored as they are, since pictures and clips are packed already.
import { t } from "../words.js";

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
/** The version that readers need, and that names are UTF-8. */
const VERSION = 20;
const UTF8 = 0x0800;
/** Larger ones would need another form of ZIP, and more memory than a page should take. */
const MOST_BYTES = 1_000_000_000;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  return sum;
});

/** The checksum that a ZIP keeps of each file. @param {Uint8Array} bytes */
function checksum(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = TABLE[(sum ^ byte) & 0xff] ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

/** Numbers of two and four bytes, the lowest first: `[bytes, value]` each. @param {...number[]} parts */
function packed(...parts) {
  const view = new DataView(new ArrayBuffer(parts.reduce((sum, [wide]) => sum + wide, 0)));
  let at = 0;
  for (const [wide, value] of parts) {
    if (wide === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += wide;
  }
  return view.buffer;
}

/** Dates as a ZIP has them: two seconds a step, years since 1980. @param {Date} date */
const timeOf = (date) => (date.getHours() << 11) | (date.getMinutes() << 5) | (date.getSeconds() >> 1);
/** @param {Date} date */
const dayOf = (date) => ((date.getFullYear() - 1980) << 9) | ((date.getMonth() + 1) << 5) | date.getDate();

/** `files`: { name, bytes, date } @param {{ name: string; bytes: Uint8Array<ArrayBuffer>; date: Date }[]} files */
export function archive(files) {
  /** @type {BlobPart[]} */
  const body = [];
  /** @type {(ArrayBuffer | Uint8Array<ArrayBuffer>)[]} */
  const list = [];
  let at = 0;
  for (const { name, bytes, date } of files) {
    const named = new TextEncoder().encode(name);
    const facts = [
      [2, VERSION],
      [2, UTF8],
      [2, 0],
      [2, timeOf(date)],
      [2, dayOf(date)],
      [4, checksum(bytes)],
      [4, bytes.length],
      [4, bytes.length],
      [2, named.length],
      [2, 0],
    ];
    body.push(packed([4, LOCAL], ...facts), named, bytes);
    list.push(packed([4, CENTRAL], [2, VERSION], ...facts, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]), named);
    at += 30 + named.length + bytes.length;
  }
  const size = list.reduce((sum, part) => sum + part.byteLength, 0);
  const end = packed([4, END], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, size], [4, at], [2, 0]);
  return new Blob([...body, ...list, end], { type: "application/zip" });
}

/**
 * Reads every file of some jobs and hands them over as one download. `step` is told how far it is, from 0 to 1.
 * @param {Job[]} jobs @param {(done: number) => void} step
 */
export async function saveJobs(jobs, step) {
  const all = jobs.flatMap((job) => job.files.map((file, place) => ({ job, file, place })));
  if (all.reduce((sum, { file }) => sum + file.bytes, 0) > MOST_BYTES) throw new Error(t("archiveTooLarge"));
  const files = [];
  for (const { job, file, place } of all) {
    const answer = await fetch(file.url);
    if (!answer.ok) throw new Error(t("pictureUnread"));
    const ending = new URL(file.url, location.href).pathname.split(".").pop();
    const date = new Date(`${job.createdAt.replace(" ", "T")}Z`);
    files.push({
      name: `${job.jobId}-${place + 1}.${ending}`,
      bytes: new Uint8Array(await answer.arrayBuffer()),
      date,
    });
    step(files.length / all.length);
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(archive(files));
  link.download = "atelier.zip";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
