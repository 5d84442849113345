// A dialog of the browser's own kind: focus stays inside, Escape closes, and it returns to where it came from.
import { html, useEffect, useRef } from "../lib.js";

/**
 * Whether a point of the window is on a dialog; what is not is its backdrop.
 * @param {HTMLDialogElement} dialog @param {{ clientX: number, clientY: number }} given
 */
function covers(dialog, { clientX, clientY }) {
  const { left, right, top, bottom } = dialog.getBoundingClientRect();
  return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
}

/** @param {{ close: () => void, label: string, kind?: string, children: Hole }} given */
export function Dialog({ close, label, kind = "", children }) {
  /** @type {Ref<HTMLDialogElement>} */
  const element = useRef(null);
  // A press that begins inside and ends outside selects text; only one that is outside from its beginning closes.
  const outside = useRef(false);
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog.showModal();
    const leave = (/** @type {Event} */ event) => {
      event.preventDefault();
      close();
    };
    dialog.addEventListener("cancel", leave);
    return () => {
      dialog.removeEventListener("cancel", leave);
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const onBackdrop = (/** @type {PointerEvent} */ event) =>
    event.target === element.current && !covers(element.current, event);
  const press = (/** @type {PointerEvent} */ event) => {
    outside.current = onBackdrop(event);
  };
  const click = (/** @type {PointerEvent} */ event) => {
    if (outside.current && onBackdrop(event)) close();
    outside.current = false;
  };
  return html`<dialog ref=${element} class=${kind} aria-label=${label} onPointerDown=${press} onClick=${click}>
    ${children}</dialog>`;
}
