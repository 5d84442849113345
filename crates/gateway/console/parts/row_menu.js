// What a row of a list offers: one action in sight, and a menu with all others. The menu lies above everything, so that
// no table cuts it off.
import { html, useEffect, useRef, useState } from "../lib.js";
import { t } from "../words.js";
import { Icon } from "./icon.js";

const GAP = 4;
let made = 0;

/**
 * Puts a menu below its button, or above where there is more room.
 * @param {HTMLElement} list @param {HTMLElement} button
 */
function settle(list, button) {
  const box = button.getBoundingClientRect();
  const { clientWidth: wide, clientHeight: high } = document.documentElement;
  const up = high - box.bottom < list.offsetHeight + GAP && box.top > high - box.bottom;
  list.style.right = `${Math.max(GAP, wide - box.right)}px`;
  list.style.top = up ? "auto" : `${box.bottom + GAP}px`;
  list.style.bottom = up ? `${high - box.top + GAP}px` : "auto";
}

/** @param {{ name: string, items: MenuItem[] }} given */
function Menu({ name, items }) {
  const [id] = useState(() => {
    made += 1;
    return `row-menu-${made}`;
  });
  /** @type {Ref<HTMLElement>} */
  const list = useRef(null);
  /** @type {Ref<HTMLElement>} */
  const button = useRef(null);
  useEffect(() => {
    const own = list.current;
    const shut = () => own.hidePopover();
    const toggled = (/** @type {Event} */ event) => {
      const open = /** @type {ToggleEvent} */ (event).newState === "open";
      if (open) {
        settle(own, button.current);
        own.querySelector("button")?.focus();
      }
      for (const sign of ["scroll", "resize"])
        (open ? addEventListener : removeEventListener)(sign, shut, { passive: true });
    };
    own.addEventListener("toggle", toggled);
    return () => {
      own.removeEventListener("toggle", toggled);
      for (const sign of ["scroll", "resize"]) removeEventListener(sign, shut);
    };
  }, []);
  const press = (/** @type {On} */ event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const all = /** @type {HTMLElement[]} */ ([...list.current.querySelectorAll("button:not(:disabled)")]);
    all[(all.indexOf(/** @type {HTMLElement} */ (document.activeElement)) + by + all.length) % all.length]?.focus();
  };
  const run = (/** @type {() => void} */ act) => () => {
    list.current.hidePopover();
    act();
  };
  return html`<button type="button" ref=${button} class="button quiet row-more" popovertarget=${id}
      aria-label=${t("moreActions", name)} title=${t("moreActions", name)}><${Icon} name="more" /></button>
    <div ref=${list} id=${id} class="row-menu" popover="auto" role="group" aria-label=${t("moreActions", name)}
      onKeyDown=${press}>
      ${items.map(
        (one) => html`<button type="button" key=${one.text} class=${`menu-line${one.danger ? " danger" : ""}`}
          disabled=${one.disabled} onClick=${run(one.act)}>${one.text}</button>`,
      )}</div>`;
}

/** `children` is the action in sight; `items`: { text, act, danger, disabled }, of which what is nothing is left
 * @param {{ name: string, items: (MenuItem | false | null | undefined)[], children?: Hole }} given
 * out. */
export function RowDeeds({ name, items, children = null }) {
  const offered = items.filter(Boolean);
  return html`<span class="actions">${children}
    ${offered.length > 0 && html`<${Menu} name=${name} items=${offered} />`}</span>`;
}
