// A dialog of the browser's own kind: focus stays inside, Escape closes, and it returns to where it came from.
import { html, useEffect, useRef } from "../lib.js";

export function Dialog({ close, label, kind = "", children }) {
  const element = useRef(null);
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog.showModal();
    const escape = (event) => { event.preventDefault(); close(); };
    dialog.addEventListener("cancel", escape);
    return () => {
      dialog.removeEventListener("cancel", escape);
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const outside = (event) => { if (event.target === element.current) close(); };
  return html`<dialog ref=${element} class=${kind} aria-label=${label} onClick=${outside}>${children}</dialog>`;
}
