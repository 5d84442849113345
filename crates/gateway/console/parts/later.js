// A part that is read when it is first shown: most visitors of the first page never open most of it.
import { html, useEffect, useState } from "../lib.js";

/** @param {() => Promise<any>} load gives the part */
export function later(load) {
  let View = null;
  const ready = () => load().then((found) => { View = found; });
  const Later = (props) => {
    const [, again] = useState(0);
    useEffect(() => { if (!View) ready().then(() => again(1), () => {}); }, []);
    return View ? html`<${View} ...${props} />` : null;
  };
  /** Reads it before it is wanted. */
  Later.ready = ready;
  return Later;
}
