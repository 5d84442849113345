// The rules of a model about its fields, made from the schema of what it is like: allowed words, bounds, default,
// refused.
import { html, useState } from "../lib.js";
import { many, t } from "../words.js";
import { count, fieldName } from "../show.js";
import { wordsOf } from "./likes.js";

/** A word as the field takes it. @param {Field} field @param {string} text */
const typed = (field, text) => (field.type === "integer" || field.type === "number" ? Number(text) : text);
/** @param {Json} value */
const shown = (value) => (value === undefined || value === null ? "" : String(value));

/** A rule in a few words. @param {Rule} rule @param {string | null | undefined} like */
export function ruleLine(rule, like) {
  if (!rule) return t("ruleNone", like);
  if (rule.refused) return t("ruleRefused");
  const bounds =
    rule.min !== undefined && rule.max !== undefined
      ? t("fromTo", count(rule.min), count(rule.max))
      : rule.min !== undefined
        ? t("ruleFrom", count(rule.min))
        : rule.max !== undefined
          ? t("ruleUpTo", count(rule.max))
          : "";
  const words = rule.allowed?.length
    ? rule.allowed.length > 3
      ? many(rule.allowed.length, "ruleWordOne", "ruleWordMany")
      : rule.allowed.join(", ")
    : "";
  return [words, bounds, rule.default === undefined ? "" : t("ruleDefault", shown(rule.default))]
    .filter(Boolean)
    .join(" · ");
}

/** A rule without what says nothing; none where nothing is left. @param {Rule} rule */
export function cleanRule(rule) {
  if (rule.refused) return { refused: true };
  const says = (/** @type {Json} */ value) =>
    value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && !value.length);
  const entries = Object.entries(rule).filter(([name, value]) => name !== "refused" && says(value));
  return entries.length ? Object.fromEntries(entries) : undefined;
}

/**
 * Allowed words as chips; of some fields further words can be added.
 * @param {{ id: string, field: Field, rule: Rule, set: (part: Rule) => void }} given
 */
function Words({ id, field, rule, set }) {
  const [text, setText] = useState("");
  const chosen = rule.allowed || [];
  const all = [...new Set([...(field.options || []), ...chosen])];
  const toggle = (/** @type {Json} */ word) =>
    set({
      allowed: chosen.includes(word)
        ? chosen.filter((one) => one !== word)
        : all.filter((one) => one === word || chosen.includes(one)),
    });
  const add = () => {
    const words = text
      .split(/[\s,]+/)
      .filter(Boolean)
      .map((one) => typed(field, one))
      .filter((one) => !Number.isNaN(one) && !chosen.includes(one));
    if (words.length) set({ allowed: [...chosen, ...words] });
    setText("");
  };
  return html`<div class="field"><p class="field-title" id=${`${id}-allowed`}>${t("ruleAllowed")}</p>
    <div class="chips" role="group" aria-labelledby=${`${id}-allowed`}>
      ${all.map(
        (word) => html`<label key=${word} class=${`chip${chosen.includes(word) ? " active" : ""}`}>
          <input type="checkbox" checked=${chosen.includes(word)} onChange=${() => toggle(word)} />
            ${String(word)}</label>`,
      )}</div>
    ${
      field.free &&
      html`<div class="row add-word">
        <input class="grow" aria-label=${t("ruleAnother")}
          placeholder=${field.name === "size" ? "2048x2048" : t("ruleAnother")} value=${text}
            onInput=${(event) => setText(event.target.value)}
              onKeyDown=${(event) => {
                if (event.key === "Enter") {
                  event.preventDefault();
                  add();
                }
              }} />
      <button type="button" class="button quiet" disabled=${!text.trim()} onClick=${add}>${t("ruleAdd")}</button>
        </div>`
    }
    <p class="hint">${t("ruleAllHint")}</p></div>`;
}

/**
 * The value of a request that leaves the field out.
 * @param {{ id: string, field: Field, rule: Rule, set: (part: Rule) => void, words: Json[] }} given
 */
function Default({ id, field, rule, set, words }) {
  const put = (/** @type {string} */ text) => set({ default: text === "" ? undefined : typed(field, text) });
  const options = field.type === "boolean" ? [true, false] : words;
  const input = options.length
    ? html`<select id=${`${id}-default`} value=${shown(rule.default)}
      onChange=${(event) =>
        field.type === "boolean"
          ? set({ default: event.target.value === "" ? undefined : event.target.value === "true" })
          : put(event.target.value)}><option value="">${t("ruleAsLike")}</option>
            ${options.map(
              (one) => html`<option value=${String(one)}>
                ${typeof one === "boolean" ? t(one ? "yes" : "no") : String(one)}</option>`,
            )}</select>`
    : html`<input id=${`${id}-default`} type=${field.type === "string" ? "text" : "number"}
      step=${field.type === "integer" ? 1 : "any"} placeholder=${t("ruleAsLike")} value=${shown(rule.default)}
        onInput=${(event) => put(event.target.value)} />`;
  return html`<div class="field"><label for=${`${id}-default`}>${t("docs.default")}</label>${input}</div>`;
}

/**
 * @param {{ id: string, field: Field, rule: Rule, set: (part: Rule) => void, name: "min" | "max",
 * title: string }} given
 */
const Bound = ({ id, field, rule, set, name, title }) => html`<div class="field">
  <label for=${`${id}-${name}`}>${title}</label>
  <input id=${`${id}-${name}`} type="number" step=${field.type === "integer" ? 1 : "any"}
    placeholder=${shown(name === "min" ? field.schema.minimum : field.schema.maximum)} value=${shown(rule[name])}
    onInput=${(event) => set({ [name]: event.target.value === "" ? undefined : Number(event.target.value) })} /></div>`;

/**
 * @param {{ field: Field, rule: Rule, change: (next: Rule | undefined) => void,
 * like: string | null | undefined }} given
 */
function Rule({ field, rule, change, like }) {
  const id = `rule-${field.name}`;
  const now = rule || {};
  const set = (/** @type {Rule} */ part) => change(cleanRule({ ...now, ...part }));
  const worded = Boolean(field.options) || field.free;
  const numeric = (!worded || field.free) && (field.type === "integer" || field.type === "number");
  return html`<details class="rule" id=${id}><summary>
    <b>${fieldName(field.name)}</b> <code class="dim">${field.name}</code>
      <span class=${rule ? "rule-line" : "rule-line dim"}>${ruleLine(rule, like)}</span></summary>
    <label class="switch">
      <input type="checkbox" checked=${Boolean(now.refused)}
        onChange=${(event) => set({ refused: event.target.checked })} /><span>${t("ruleRefuse")}</span></label>
    ${
      !now.refused &&
      html`${worded && html`<${Words} id=${id} field=${field} rule=${now} set=${set} />`}
      <div class="two">
        ${
          numeric &&
          html`<${Bound} id=${id} field=${field} rule=${now} set=${set} name="min" title=${t("ruleLeast")} />
          <${Bound} id=${id} field=${field} rule=${now} set=${set} name="max" title=${t("ruleMost")} />`
        }
      <${Default} id=${id} field=${field} rule=${now} set=${set} words=${wordsOf(field, now)} /></div>`
    }</details>`;
}

/**
 * `value` is what stands under `fields` of the model.
 * @param {{ fields: Field[], value: Record<string, Rule>, change: (next: Record<string, Rule>) => void,
 * like: string | null | undefined }} given
 */
export function ModelFields({ fields, value, change, like }) {
  const put = (/** @type {string} */ name) => (/** @type {Rule | undefined} */ rule) => {
    const next = { ...value };
    if (rule) next[name] = rule;
    else delete next[name];
    change(next);
  };
  return html`${fields.map(
    (field) =>
      html`<${Rule} key=${field.name} field=${field} rule=${value[field.name]} change=${put(field.name)}
        like=${like} />`,
  )}`;
}
