// The part of Markdown that the guides use, as elements and never as text that a browser would read as HTML.
import { html } from "../lib.js";

const INLINE = /(`[^`]+`)|(\*\*[^*]+\*\*)|(\[[^\]]+\]\([^)\s]+\))/g;

/**
 * Links within the documents lead to their page here; anything but an address of the web or of this service is text.
 * @param {string} address
 */
function target(address) {
  if (/^https:\/\//.test(address) || /^[/#]/.test(address)) return address;
  const guide = /^(?:(?:docs|guide|\.\.)\/)*([a-z-]+)\.md(#.*)?$/.exec(address);
  return guide ? `/docs/guide/${guide[1]}${guide[2] || ""}` : null;
}

/** @param {string} text @returns {unknown[]} */
function inline(text) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    parts.push(text.slice(at, found.index));
    const [whole] = found;
    if (found[1]) parts.push(html`<code>${whole.slice(1, -1)}</code>`);
    else if (found[2]) parts.push(html`<b>${inline(whole.slice(2, -2))}</b>`);
    else {
      const [, words, address] = /^\[([^\]]+)\]\(([^)\s]+)\)$/.exec(whole) || [];
      const to = target(address);
      parts.push(to ? html`<a href=${to} rel="noreferrer">${inline(words)}</a>` : inline(words));
    }
    at = found.index + whole.length;
  }
  parts.push(text.slice(at));
  return parts;
}

/** @param {string} text */
const anchor = (text) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, "")
    .trim()
    .replace(/ +/g, "-");
/** @param {string} line */
const cells = (line) =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replace(/\\\|/g, "|"));

/** Lines into blocks. @param {string} text @returns {Marked[]} */
function blocks(text) {
  const lines = text.replace(/\r/g, "").split("\n");
  /** @type {Marked[]} */
  const out = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    const heading = /^(#{1,4}) (.*)$/.exec(line);
    // Pictures and comments are for readers of the files.
    if (!line.trim() || /^(!\[|<!--)/.test(line)) at += 1;
    else if (line.startsWith("```")) {
      const end = lines.findIndex((one, place) => place > at && one.startsWith("```"));
      const stop = end < 0 ? lines.length : end;
      out.push({ kind: "code", text: lines.slice(at + 1, stop).join("\n") });
      at = stop + 1;
    } else if (heading) {
      out.push({ kind: "heading", level: heading[1].length, text: heading[2] });
      at += 1;
    } else if (/^\s*\|/.test(line) && /^\s*\|[\s:|-]+$/.test(lines[at + 1] || "")) {
      let stop = at + 2;
      while (/^\s*\|/.test(lines[stop] || "")) stop += 1;
      out.push({ kind: "table", head: cells(line), rows: lines.slice(at + 2, stop).map(cells) });
      at = stop;
    } else if (/^\s*([-*]|\d+\.) /.test(line)) {
      const items = [];
      const numbered = /^\s*\d/.test(line);
      while (
        at < lines.length &&
        (/^\s*([-*]|\d+\.) /.test(lines[at]) || (/^\s{2,}\S/.test(lines[at]) && items.length))
      ) {
        if (/^\s*([-*]|\d+\.) /.test(lines[at])) items.push(lines[at].replace(/^\s*([-*]|\d+\.) /, ""));
        else items[items.length - 1] += ` ${lines[at].trim()}`;
        at += 1;
      }
      out.push({ kind: "list", numbered, items });
    } else {
      const words = [];
      while (at < lines.length && lines[at].trim() && !/^(#{1,4} |```|\s*\||\s*([-*]|\d+\.) )/.test(lines[at])) {
        words.push(lines[at].trim());
        at += 1;
      }
      if (!words.length) {
        words.push(lines[at]);
        at += 1;
      }
      out.push({ kind: "text", text: words.join(" ") });
    }
  }
  return out;
}

/** @param {{ one: Marked }} given */
function Block({ one }) {
  if (one.kind === "code") return html`<pre tabindex="0"><code>${one.text}</code></pre>`;
  if (one.kind === "table")
    return html`<div class="card flush">
    <div class="table-frame" tabindex="0" role="region" aria-label=${one.head.join(", ")}>
      <table><thead>
        <tr>${one.head.map((cell) => (cell.trim() ? html`<th scope="col">${inline(cell)}</th>` : html`<td></td>`))}</tr>
          </thead><tbody>${one.rows.map((row) => html`<tr>${row.map((cell) => html`<td>${inline(cell)}</td>`)}</tr>`)}
            </tbody></table></div></div>`;
  if (one.kind === "list")
    return one.numbered
      ? html`<ol>
    ${one.items.map((item) => html`<li>${inline(item)}</li>`)}</ol>`
      : html`<ul>
      ${one.items.map((item) => html`<li>${inline(item)}</li>`)}</ul>`;
  if (one.kind === "heading") {
    const id = anchor(one.text);
    const text = inline(one.text);
    return one.level === 1
      ? html`<h1 id=${id}>${text}</h1>`
      : one.level === 2
        ? html`<h2 id=${id}>
      ${text}</h2>`
        : html`<h3 id=${id}>${text}</h3>`;
  }
  return html`<p>${inline(one.text)}</p>`;
}

/** @param {{ text: string }} given */
export const Markdown = ({ text }) => blocks(text).map((one, place) => html`<${Block} key=${place} one=${one} />`);
