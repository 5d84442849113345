// A part that is read when it is first shown: most visitors of the first page never open most of it.
import { html, useEffect, useState } from "../lib.js";

const AGAIN_MS = 1500;

/** @param {() => Promise<unknown>} load gives the part */
export function later(load) {
  /** @type {unknown} */
  let View = null;
  const ready = () =>
    View
      ? Promise.resolve()
      : load().then((found) => {
          View = found;
        });
  const Later = (/** @type {Record<string, unknown>} */ props) => {
    const [, again] = useState(0);
    useEffect(() => {
      let left = false;
      let timer = 0;
      // Without a connection the part comes as soon as there is one.
      const read = () =>
        ready().then(
          () => {
            if (!left) again(1);
          },
          () => {
            if (!left) timer = window.setTimeout(read, AGAIN_MS);
          },
        );
      if (!View) read();
      return () => {
        left = true;
        clearTimeout(timer);
      };
    }, []);
    return View ? html`<${View} ...${props} />` : null;
  };
  /** Reads it before it is wanted. */
  Later.ready = ready;
  return Later;
}
