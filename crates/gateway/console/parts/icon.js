// Line icons, 18 units wide, in the colour of the text around them.
import { html } from "../lib.js";

/** @type {Record<string, string>} */
const paths = {
  plus: "M9 3v12M3 9h12",
  grid: "M3 3h5v5H3zM10 3h5v5h-5zM3 10h5v5H3zM10 10h5v5h-5z",
  person: "M9 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM3.5 15.5c.6-3 2.800-4.500 5.500-4.500s4.900 1.500 5.500 4.500",
  people:
    "M7 9a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM2.500 15c.5-2.500 2.200-3.800 4.500-3.800s4 1.300 4.500 " +
    "3.800M12 4.200a2.400 2.400 0 0 1 0 4.600M13.500 11.600c1.300.5 2 1.700 2.300 3.400",
  bars: "M4 15V9M9 15V3M14 15v-8",
  stack: "M3 4h12v4H3zM3 10h12v4H3zM5.500 6h.1M5.500 12h.1",
  cube: "M9 2.500 15 6v6.500L9 16l-6-3.500V6zM3 6l6 3.500L15 6M9 9.500V16",
  tag: "M3 3h6l6.500 6.500-6 6L3 9zM6 6h.1",
  layers: "M9 2.500 15.500 6 9 9.500 2.500 6zM2.500 9.500 9 13l6.500-3.500",
  again:
    "M14.800 7.500A6 6 0 0 0 4 5.300L2.500 7M2.500 3.500V7H6M3.200 10.500A6 6 0 0 0 14 12.700l1.500-1.700" +
    "M15.500 14.500V11H12",
  ticket:
    "M2.500 4.500h13v2.200a2.300 2.300 0 0 0 0 4.600v2.200h-13v-2.200a2.300 2.300 0 0 0 0-4.600z" +
    "M10.500 7v.8M10.500 10.200v.8",
  ban: "M9 15.500a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13zM4.500 4.500l9 9",
  list: "M3 5h12M3 9h12M3 13h12",
  bell: "M5 8a4 4 0 0 1 8 0c0 3.500 1.500 4.500 1.500 4.500h-11S5 11.500 5 8zM7.500 15h3",
  shield: "M9 2.500 15 5v4c0 3.500-2.500 5.500-6 6.500C5.500 14.500 3 12.500 3 9V5z",
  key: "M6 12.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM9.500 9H16v3M13 9v2.500",
  copy: "M6 6h9v9H6zM12 6V3H3v9h3",
  close: "M4 4l10 10M14 4 4 14",
  left: "M11 3 5 9l6 6",
  right: "M7 3l6 6-6 6",
  search: "M8 13A5 5 0 1 0 8 3a5 5 0 0 0 0 10zM12 12l3.500 3.500",
  more: "M4.500 9h.1M9 9h.1M13.500 9h.1",
};

/** @param {{ name: string }} given */
export const Icon = ({ name }) => html`
  <svg class="icon" viewBox="0 0 18 18" width="18" height="18" aria-hidden="true" focusable="false">
    <path d=${paths[name]} /></svg>`;
