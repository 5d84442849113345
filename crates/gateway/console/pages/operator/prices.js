// Prices: every one of them, changed in place, applied together, with what the last week would have cost.
import { html, useEffect, useState } from "../../lib.js";
import { local, many, t } from "../../words.js";
import { count, difference } from "../../show.js";
import { get, post, put } from "../../api.js";
import { catalogue } from "../../catalogue.js";
import { Table } from "../../parts/table.js";

/**
 * Prices by the word before the first dot, in the order of the list.
 * @param {string[]} names @returns {[string, string[]][]}
 */
function grouped(names) {
  const groups = new Map();
  for (const name of names) {
    const group = name.split(".")[0];
    groups.set(group, [...(groups.get(group) || []), name]);
  }
  return [...groups];
}

/** @param {{ preview: Wire.PricePreview }} given */
const Preview = ({ preview }) => html`<section class="card flush" role="status">
  <header class="inner"><div><h2>${t("previewTitle")}</h2>
    <p class="dim">${many(preview.jobs, "jobOne", "jobMany", count(preview.jobs))}
      ${preview.more ? ` ${t("latestOnly")}` : ""}</p></div>
    <p class="large">${count(preview.was)} → ${count(preview.wouldBe)} <small class="dim">
      ${difference(preview.was, preview.wouldBe)}</small></p></header>
  <details><summary>${t("byFamily")}</summary>
    <${Table} caption=${t("previewTitle")} rows=${preview.families} empty=${t("nothingUsed")} columns=${
      /** @type {Column<Wire.PreviewRow>[]} */ ([
        { title: t("what"), show: (row) => local(row.title) },
        { title: t("jobs"), number: true, show: (row) => count(row.jobs) },
        { title: t("was"), number: true, show: (row) => count(row.was) },
        { title: t("wouldBe"), number: true, show: (row) => count(row.wouldBe) },
        { title: t("difference"), number: true, show: (row) => difference(row.was, row.wouldBe) },
      ])
    } /></details></section>`;

/** @param {{ who: Runs }} given */
export function Prices({ who }) {
  const [prices, setPrices] = useState(/** @type {Record<string, number> | null} */ (null));
  const [changed, setChanged] = useState(/** @type {Record<string, number>} */ ({}));
  const [preview, setPreview] = useState(/** @type {Wire.PricePreview | null} */ (null));
  const [text, setText] = useState("");
  const [told, setTold] = useState(/** @type {Told | null} */ (null));
  const [all, setAll] = useState(/** @type {All | null} */ (null));
  useEffect(() => {
    catalogue().then(setAll, () => {});
  }, []);
  const may = who.operator.role !== "viewer";
  const bad = (/** @type {Refusal} */ error) => setTold({ bad: true, text: error.message });
  const read = () => get("/admin/v1/prices").then(({ data }) => setPrices(data), bad);
  useEffect(() => {
    read();
  }, []);
  const number = Object.keys(changed).length;
  useEffect(() => {
    if (!number) {
      setPreview(null);
      return undefined;
    }
    let stale = false;
    const timer = setTimeout(
      () =>
        post("/admin/v1/prices/preview", changed).then(
          ({ data }) => {
            if (!stale) setPreview(data);
          },
          (error) => {
            if (!stale) bad(error);
          },
        ),
      400,
    );
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [changed]);
  const save = () =>
    put("/admin/v1/prices", changed).then(() => {
      setChanged({});
      setTold({ text: t("pricesSaved") });
      read();
    }, bad);
  const edit = (/** @type {string} */ name, /** @type {string} */ value) => {
    const next = { ...changed };
    setTold(null);
    if (value === "" || Number(value) === Number(prices?.[name])) delete next[name];
    else next[name] = Number(value);
    setChanged(next);
  };
  /** What people call the prices that begin with a word. */
  const title = (/** @type {string} */ group) => {
    const family = all?.operations.find((one) => one.name.startsWith(`${group}.`))?.family;
    return family ? local(family) : group === "custody" ? t("custodyPrices") : "";
  };
  const names = Object.keys(prices || {}).filter((name) => name.toLowerCase().includes(text.trim().toLowerCase()));
  return html`<header class="head"><div><h1>${t("prices")}</h1><p class="dim">${t("pricesText")}</p></div>
      <input type="search" class="filter" placeholder=${t("filter")} aria-label=${t("filter")} value=${text}
        onInput=${(event) => setText(event.target.value)} />
      ${number > 0 && html`<button class="button quiet" onClick=${() => setChanged({})}>${t("undo")}</button>`}
      ${
        may &&
        html`<button class="button" disabled=${!number} onClick=${save}>
        ${number ? many(number, "savePriceOne", "savePriceMany") : t("save")}</button>`
      }</header>
    ${told && html`<p class=${told.bad ? "problem" : "ok"} role="status">${told.text}</p>`}
    ${prices && !names.length && html`<p class="empty">${t("nothingFound")}</p>`}
    ${grouped(names).map(
      ([
        group,
        own,
      ]) => html`<section class="card" key=${group}><h2>${title(group)} <span class="code dim">${group}</span></h2>
        <div class="prices">
          ${own.map(
            (name) => html`<label key=${name}><span class="code">${name.slice(group.length + 1) || name}</span>
      <input type="number" min="0" step="any" disabled=${!may} value=${changed[name] ?? prices?.[name]}
        class=${changed[name] !== undefined ? "changed" : ""} onInput=${(event) => edit(name, event.target.value)} />
          </label>`,
          )}</div></section>`,
    )}
    ${
      number > 0 &&
      html`<div class="preview-bar">${
        preview
          ? html`<${Preview} preview=${preview} />`
          : html`<section class="card flush waiting" aria-busy="true"></section>`
      }</div>`
    }`;
}
