// Favourites and folders: which jobs somebody put where. They are kept in this browser, for each account by itself; the
// service knows nothing of them.
import { useState } from "../lib.js";
import { get } from "../api.js";

/** The shelf that is always there; its name in the address is short and no folder can have it. */
export const FAVOURITES = "*";
/** More are not kept, so that the browser's store is not filled. */
const MOST_JOBS = 2000;
const MOST_NAME = 60;

/** @param {string} owner */
const place = (owner) => `atelier.shelves.${owner}`;

/** @param {string} owner @returns {Record<string, string[]>} */
function read(owner) {
  try {
    const kept = JSON.parse(localStorage.getItem(place(owner)) || "{}");
    return kept && typeof kept === "object" ? kept : {};
  } catch {
    return {};
  }
}

/** A name as people may write it: without what an address gives a meaning. @param {string} text */
export const cleanName = (text) => text.replace(/\s+/g, " ").trim().slice(0, MOST_NAME);

/** The shelves of an account, by name a list of jobs, the newest first. @param {string} owner */
export function useShelves(owner) {
  const [shelves, setShelves] = useState(() => read(owner));
  const keep = (/** @type {Record<string, string[]>} */ next) => {
    setShelves(next);
    try {
      localStorage.setItem(place(owner), JSON.stringify(next));
    } catch {
      /* then they last as long as the page */
    }
  };
  const of = (/** @type {string} */ name) => shelves[name] || [];
  return {
    of,
    /** The folders; favourites are none. */
    names: Object.keys(shelves)
      .filter((name) => name !== FAVOURITES)
      .sort((a, b) => a.localeCompare(b)),
    has: (/** @type {string} */ name, /** @type {string} */ id) => of(name).includes(id),
    put: (/** @type {string} */ name, /** @type {string[]} */ ids) =>
      keep({ ...shelves, [name]: [...new Set([...ids, ...of(name)])].slice(0, MOST_JOBS) }),
    take: (/** @type {string} */ name, /** @type {string[]} */ ids) =>
      keep({ ...shelves, [name]: of(name).filter((id) => !ids.includes(id)) }),
    drop: (/** @type {string} */ name) =>
      keep(Object.fromEntries(Object.entries(shelves).filter(([one]) => one !== name))),
  };
}

/** The jobs of some identifiers in their order; those that are gone are left out. @param {string[]} ids */
export async function jobsOf(ids) {
  const found = await Promise.all(
    ids.map((id) =>
      get(`/jobs/v1/${encodeURIComponent(id)}`).then(
        ({ data }) => data,
        (error) => {
          if (error.status === 404 || error.status === 400) return null;
          throw error;
        },
      ),
    ),
  );
  return found.filter((one) => one !== null);
}
