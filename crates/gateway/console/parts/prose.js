// A sentence of the documents: words between backticks are code.
import { html } from "../lib.js";

/** @param {{ text: string }} given */
export const Prose = ({ text }) =>
  text.split("`").map((part, place) =>
    place % 2
      ? html`<code>
  ${part}</code>`
      : part,
  );
