// What the ids of accounts, back ends and worker accounts are called: asked for once, and again when one is not known
// yet.
import { useEffect, useRef, useState } from "../lib.js";
import { get } from "../api.js";

/** So many accounts are known by name; others, as what is gone, by how their ids end. */
const MOST = 100;

/** @param {string} id */
const short = (id) => (id.length > 20 ? `…${id.slice(-6)}` : id);

/** A function from an id to its name; `ids` are those that are on the page. @param {string[]} ids */
export function useNames(ids) {
  const [names, setNames] = useState(/** @type {Record<string, string>} */ ({}));
  const asked = useRef(/** @type {Set<string>} */ (new Set()));
  const unknown = ids.filter((id) => id && !names[id] && !asked.current.has(id));
  useEffect(() => {
    if (!unknown.length) return;
    for (const id of unknown) asked.current.add(id);
    const learn = (/** @type {(string | undefined)[][]} */ pairs) =>
      setNames((old) => ({ ...old, ...Object.fromEntries(pairs) }));
    get(`/admin/v1/accounts?limit=${MOST}`).then(
      ({ data }) => learn(data.map((one) => [one.id, one.email])),
      () => {},
    );
    get("/admin/v1/backends").then(
      ({ data }) => learn(data.flatMap((one) => [one, ...(one.accounts || [])]).map((one) => [one.id, one.name])),
      () => {},
    );
  }, [unknown.join()]);
  return (/** @type {string} */ id) => names[id] || short(id);
}
