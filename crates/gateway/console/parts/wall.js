// A wall of any number of tiles: only the rows about the window are there, the others are room that is kept for them.
import { html, useEffect, useRef, useState } from "../lib.js";

/** Tiles that are there before anything was measured. */
const FIRST = 60;

/** @param {number} value @param {number} least @param {number} most */
const within = (value, least, most) => Math.min(Math.max(value, least), most);

/**
 * `tile` draws one of the items; all are as high as they are wide.
 * @template T @param {{ items: T[], tile: (item: T) => Hole }} given
 */
export function Wall({ items, tile }) {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const [view, setView] = useState({ from: 0, to: FIRST, above: 0, below: 0 });
  useEffect(() => {
    let asked = 0;
    /** @type {{ columns: number, row: number } | null} */
    let grid = null;
    const look = () => {
      asked = 0;
      const wall = frame.current;
      if (!wall) return;
      if (!grid) {
        const style = getComputedStyle(wall);
        const widths = style.gridTemplateColumns.split(" ");
        grid = { columns: widths.length, row: parseFloat(widths[0]) + (parseFloat(style.rowGap) || 0) };
      }
      const { columns, row } = grid;
      if (!(row > 0)) return;
      const rows = Math.ceil(items.length / columns);
      const { top } = wall.getBoundingClientRect();
      // A window's height more at either end, so that nothing is missing while somebody scrolls or walks by keyboard.
      const first = within(Math.floor((-top - innerHeight) / row), 0, rows);
      const last = within(Math.ceil((2 * innerHeight - top) / row), first, rows);
      const next = { from: first * columns, to: last * columns, above: first * row, below: (rows - last) * row };
      setView((old) =>
        old.from === next.from && old.to === next.to && old.above === next.above && old.below === next.below
          ? old
          : next,
      );
    };
    const soon = () => {
      asked ||= requestAnimationFrame(look);
    };
    const measure = () => {
      grid = null;
      soon();
    };
    look();
    addEventListener("scroll", soon, { passive: true });
    addEventListener("resize", measure);
    return () => {
      cancelAnimationFrame(asked);
      removeEventListener("scroll", soon);
      removeEventListener("resize", measure);
    };
  }, [items.length]);
  return html`<div class="wall" ref=${frame}
    style=${{ paddingTop: `${view.above}px`, paddingBottom: `${view.below}px` }}>
      ${items.slice(view.from, view.to).map(tile)}</div>`;
}
