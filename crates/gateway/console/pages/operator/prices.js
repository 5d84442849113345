// Prices: every one of them, changed in place, applied together.
import { html, useEffect, useState } from "../../lib.js";
import { t } from "../../words.js";
import { get, put } from "../../api.js";

export function Prices() {
  const [prices, setPrices] = useState(null);
  const [changed, setChanged] = useState({});
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const read = () => get("/admin/v1/prices").then(({ data }) => setPrices(data), (error) => setProblem(error.message));
  useEffect(() => { read(); }, []);
  const save = () => put("/admin/v1/prices", changed).then(() => { setChanged({}); setProblem(""); read(); }, (error) => setProblem(error.message));
  const names = Object.keys(prices || {}).filter((name) => name.includes(text.trim()));
  const count = Object.keys(changed).length;
  return html`<header class="head"><div><h1>${t("prices")}</h1><p class="dim">A change holds for every request from now on, on every node.</p></div>
      <input type="search" class="filter" placeholder="Filter" aria-label="Filter" value=${text} onInput=${(event) => setText(event.target.value)} />
      <button class="button" disabled=${!count} onClick=${save}>${t("save")}${count ? ` (${count})` : ""}</button></header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <section class="card prices">${names.map((name) => html`<label key=${name}><span class="code">${name}</span>
      <input type="number" min="0" step="any" value=${changed[name] ?? prices[name]} class=${changed[name] !== undefined ? "changed" : ""}
        onInput=${(event) => { const next = { ...changed }; const value = Number(event.target.value); if (event.target.value === "" || value === prices[name]) delete next[name]; else next[name] = value; setChanged(next); }} /></label>`)}</section>`;
}
