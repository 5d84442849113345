// Search over operations, their fields and the guides.
import { html, useEffect, useRef, useState } from "../lib.js";
import { t } from "../words.js";

const MOST = 12;

/**
 * How well an operation fits: its name and path first, then what it says, then its fields.
 * @param {Described & { fieldNames: string[] }} one @param {string} wanted
 */
function score(one, wanted) {
  const close = `${one.operationId} ${one.path}`.toLowerCase();
  if (close.includes(wanted)) return 3;
  if ((one.summary || "").toLowerCase().includes(wanted)) return 2;
  return one.fieldNames.some((name) => name.toLowerCase().includes(wanted)) ? 1 : 0;
}

/**
 * @param {{ operations: Described[], resolve: (schema: Schema | undefined) => Schema, guides: Guide[],
 * codes: string[][], slug: (title: string) => string }} given
 */
export function Find({ operations, resolve, guides, codes, slug }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  /** @type {Ref<HTMLInputElement>} */
  const box = useRef(null);
  useEffect(() => {
    const press = (/** @type {KeyboardEvent} */ event) => {
      const slash = event.key === "/" && !(/** @type {Element} */ (event.target).closest("input, textarea, select"));
      if (slash || ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k")) {
        event.preventDefault();
        box.current.focus();
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  const wanted = text.trim().toLowerCase();
  const found = wanted
    ? [
        ...guides
          .filter((one) => one.title.toLowerCase().includes(wanted))
          .map((one) => ({ text: one.title, hint: t("docs.guides"), href: `/docs/guide/${one.name}` })),
        ...codes
          .filter(([name, status]) => name.includes(wanted.replace(/ /g, "_")) || status === wanted)
          .map(([name, status, meaning]) => ({
            text: `${name} · ${status}`,
            hint: meaning.replace(/`/g, ""),
            href: `/docs/errors#${name}`,
          })),
        ...operations
          .map((one) => ({
            ...one,
            fieldNames: Object.keys(resolve(one.requestBody?.content?.["application/json"]?.schema)?.properties || {}),
          }))
          .map((one) => ({ one, score: score(one, wanted) }))
          .filter((row) => row.score)
          .sort((a, b) => b.score - a.score)
          .map(({ one }) => ({
            text: `${one.method.toUpperCase()} ${one.path}`,
            hint: one.summary,
            href: `/docs/${slug(one.tags[0])}#${one.operationId}`,
          })),
      ].slice(0, MOST)
    : [];
  const open = (/** @type {Found} */ one) => {
    if (!one) return;
    setText("");
    box.current.blur();
    const link = document.createElement("a");
    link.href = one.href;
    document.body.append(link);
    link.click();
    link.remove();
  };
  const press = (/** @type {On} */ event) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      setAt(Math.min(at + 1, found.length - 1));
    } else if (event.key === "ArrowUp") {
      event.preventDefault();
      setAt(Math.max(at - 1, 0));
    } else if (event.key === "Enter") {
      event.preventDefault();
      open(found[at]);
    } else if (event.key === "Escape") setText("");
  };
  return html`<div class="find">
    <input ref=${box} type="search" placeholder=${t("docs.search")} aria-label=${t("docs.search")} value=${text}
      role="combobox" aria-expanded=${found.length > 0} aria-controls="found"
      aria-activedescendant=${found.length ? `found-${at}` : undefined}
        onInput=${(event) => {
          setText(event.target.value);
          setAt(0);
        }} onKeyDown=${press} />
    ${
      wanted &&
      html`<ul id="found" role="listbox" class="found" aria-label=${t("docs.search")}>
        ${found.map(
          (one, place) =>
            html`<li id=${`found-${place}`} role="option" aria-selected=${place === at}
              onPointerMove=${() => setAt(place)} onClick=${() => open(one)}><span class="code">${one.text}</span>
                <span class="dim">${one.hint}</span></li>`,
        )}
      ${!found.length && html`<li class="dim" role="option" aria-selected="false">${t("nothingFound")}</li>`}</ul>`
    }
        </div>`;
}
