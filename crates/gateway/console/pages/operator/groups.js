// Groups of accounts: what the accounts of each pay, and from which day on; a form for one, with what last week would
// have cost.
import { html, useEffect, useRef, useState } from "../../lib.js";
import { many, t } from "../../words.js";
import { count, difference } from "../../show.js";
import { get, patch, post, remove } from "../../api.js";
import { go, href } from "../../route.js";
import { Ask } from "../../parts/ask.js";
import { RowDeeds } from "../../parts/row_menu.js";
import { Table } from "../../parts/table.js";
import { definedRule, draftRule, ruleText } from "../../parts/group.js";

/** So many rules stand in the line of a group; the form has all of them. */
const SHOWN = 4;

/** @param {string} name */
const pathOf = (name) => `/admin/v1/groups/${encodeURIComponent(name)}`;

/**
 * @param {{ place: number, rule: RuleDraft, set: (part: Partial<RuleDraft>) => void, drop: () => void,
 * problem: Refusal | null }} given
 */
function Rule({ place, rule, set, drop, problem }) {
  const id = `rule-${place}`;
  const wrong = problem?.field?.startsWith(`rules[${place}]`);
  return html`<fieldset class=${`mapping${wrong ? " wrong" : ""}`}>
    <legend class="visually-hidden">${t("groupRuleOf", rule.match || t("mapNew"))}</legend>
    <div class="field"><label for=${`${id}-match`}>${t("groupMatch")}</label>
      <input id=${`${id}-match`} required maxlength="100" list="rule-words" spellcheck="false" autocomplete="off"
        placeholder="*" value=${rule.match} onInput=${(event) => set({ match: event.target.value })} /></div>
    <div class="two"><div class="field"><label for=${`${id}-kind`}>${t("groupKind")}</label>
      <select id=${`${id}-kind`} value=${rule.kind} onChange=${(event) => set({ kind: event.target.value })}>
        <option value="factor">${t("groupFactor")}</option>
          <option value="amount">${t("groupOwnAmount")}</option></select></div>
      <div class="field"><label for=${`${id}-value`}>${rule.kind === "factor" ? t("groupFactor") : t("amount")}</label>
        <input id=${`${id}-value`} type="number" inputmode="decimal" required min="0"
          max=${rule.kind === "factor" ? 100 : 1000000} step="0.001" value=${rule.value}
            onInput=${(event) => set({ value: event.target.value })} /></div>
      <div class="field"><label for=${`${id}-from`}>${t("groupFrom")}</label>
        <input id=${`${id}-from`} type="date" value=${rule.from}
          onInput=${(event) => set({ from: event.target.value })} /></div></div>
    <div class="row"><span class="space"></span><button type="button" class="button quiet danger" onClick=${drop}>
      ${t("remove")}</button></div></fieldset>`;
}

/** @param {{ preview: Wire.GroupPreview }} given */
const Cost = ({ preview }) => html`<div class="cost" role="status">
  <p class="large">${count(preview.was)} → ${count(preview.wouldBe)} <small class="dim">
    ${difference(preview.was, preview.wouldBe)}</small></p>
  <p class="dim">${t("previewTitle")}: ${many(preview.jobs, "jobOne", "jobMany", count(preview.jobs))}
    ${preview.more ? ` ${t("latestOnly")}` : ""}${preview.everybody ? ` ${t("groupEverybody")}` : ""}</p></div>`;

/**
 * @param {{ row: Wire.Group | null, words: string[], leave: () => void, saved: (row: Wire.Group) => void,
 * may: boolean }} given
 */
function GroupForm({ row, words, leave, saved, may }) {
  const [name, setName] = useState(row?.name || "");
  const [rules, setRules] = useState((row?.rules || []).map(draftRule));
  const [at, setAt] = useState("");
  const [preview, setPreview] = useState(/** @type {Wire.GroupPreview | null} */ (null));
  const [problem, setProblem] = useState(/** @type {Refusal | null} */ (null));
  const [busy, setBusy] = useState(false);
  /** @type {Ref<HTMLElement>} */
  const title = useRef(null);
  useEffect(() => {
    title.current?.focus();
  }, []);
  useEffect(() => {
    setPreview(null);
  }, [rules, at]);
  const body = () =>
    row
      ? { rules: rules.map(definedRule), revision: row.revision }
      : { name: name.trim(), rules: rules.map(definedRule) };
  const send = (/** @type {string} */ query) =>
    row ? patch(`${pathOf(row.name)}${query}`, body()) : post(`/admin/v1/groups${query}`, body());
  const act = async (/** @type {string} */ query, /** @type {(data: any) => void} */ good) => {
    setBusy(true);
    setProblem(null);
    try {
      good((await send(query)).data);
    } catch (error) {
      setProblem(/** @type {Refusal} */ (error));
    }
    setBusy(false);
  };
  const submit = (/** @type {On} */ event) => {
    event.preventDefault();
    if (/** @type {HTMLButtonElement | null} */ (event.submitter)?.value === "preview")
      act(`?preview=true${at ? `&at=${at}` : ""}`, setPreview);
    else act("", saved);
  };
  const set = (/** @type {number} */ place) => (/** @type {Partial<RuleDraft>} */ part) =>
    setRules(rules.map((rule, now) => (now === place ? { ...rule, ...part } : rule)));
  return html`<header class="head">
    <div><h1 tabindex="-1" ref=${title} class="break">${row ? row.name : t("newGroup")}</h1>
      <p class="dim">${row?.revision ? t("modelRevision", row.revision) : t("groupFormText")}</p></div>
        <button type="button" class="button quiet" onClick=${leave}>${t("back")}</button></header>
    <form class="job-page model-form" onSubmit=${submit}>
      <fieldset class="bare" disabled=${!may}>
        ${
          !row &&
          html`<section class="card"><div class="field"><label for="group-name">${t("name")}</label>
            <input id="group-name" required maxlength="64" pattern="[A-Za-z0-9._:\\/\\-]+" spellcheck="false"
              autocomplete="off" placeholder="resellers" value=${name}
                onInput=${(event) => setName(event.target.value)} /><p class="hint">${t("groupNameHint")}</p></div>
                  </section>`
        }
        <section class="card"><h2>${t("groupRules")}</h2><p class="hint">${t("groupRulesHint")}</p>
          ${rules.map(
            (rule, place) =>
              html`<${Rule} key=${place} place=${place} rule=${rule} set=${set(place)} problem=${problem}
                drop=${() => setRules(rules.filter((_, now) => now !== place))} />`,
          )}
          <datalist id="rule-words">${words.map((word) => html`<option value=${word} />`)}</datalist>
          <div class="row">
            <button type="button" class="button quiet"
              onClick=${() =>
                setRules([...rules, { match: rules.length ? "" : "*", kind: "factor", value: "", from: "" }])}>
                  ${t("groupRuleAdd")}</button></div></section>
      </fieldset>
      <aside><section class="card model-end"><h2 class="break">${name || t("newGroup")}</h2>
        ${
          problem &&
          html`<p class="problem" role="alert">${problem.field ? html`<code>${problem.field}</code>: ` : ""}
            ${problem.message}</p>`
        }
        <div class="field"><label for="group-at">${t("groupAt")}</label>
          <input id="group-at" type="date" value=${at} onInput=${(event) => setAt(event.target.value)} />
            <p class="hint">${t("groupAtHint")}</p></div>
        ${preview && html`<${Cost} preview=${preview} />`}
        <div class="row"><button class="button quiet" value="preview" disabled=${busy || !may}>
          ${t("modelPreview")}</button><span class="space"></span>
            <button class="button" value="save" disabled=${busy || !may}>${t("save")}</button></div></section></aside>
    </form>`;
}

/** @param {{ who: Runs, route: Route }} given */
export function Groups({ who, route }) {
  const [rows, setRows] = useState(/** @type {Wire.Group[] | null} */ (null));
  const [words, setWords] = useState(/** @type {string[]} */ ([]));
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [told, setTold] = useState(/** @type {Told | null} */ (null));
  const may = who.operator.role !== "viewer";
  const bad = (/** @type {Refusal} */ error) => setTold({ bad: true, text: error.message });
  const read = () => get("/admin/v1/groups").then(({ data }) => setRows(data), bad);
  useEffect(() => {
    read();
    // What rules may name: models of the operator, keys of the tariff, and the families and operations that these begin
    // with.
    const keys = get("/admin/v1/prices").then(
      ({ data }) => Object.keys(data).filter((key) => !/(^custody\.|\.factor\.)/.test(key)),
      () => [],
    );
    const models = get("/admin/v1/models").then(
      ({ data }) => data.map((one) => one.name),
      () => [],
    );
    Promise.all([keys, models]).then(([keys, models]) =>
      setWords([
        ...new Set([
          "*",
          "custody",
          ...models,
          ...keys.flatMap((key) => [key.split(".")[0], key.split(".").slice(0, 2).join("."), key]),
        ]),
      ]),
    );
  }, []);
  const list = () => go("operator/groups");
  const done = (/** @type {string} */ text) => {
    setTold({ text });
    list();
    return read();
  };
  const [wanted, isNew] = [route.query.group, route.query.new !== undefined];
  const row = wanted && rows?.find((one) => one.name === wanted);
  if ((wanted || isNew) && !rows)
    return html`${told && html`<p class="told bad" role="status">${told.text}</p>`}
    <section class="card waiting" aria-busy="true"></section>`;
  if (row || isNew)
    return html`<${GroupForm} key=${row ? `${row.name} ${row.revision}` : "new"} row=${row || null}
    words=${words} may=${may} leave=${list} saved=${(now) => done(t("modelSaved", now.name))} />`;
  const removal = (/** @type {Wire.Group} */ one) => ({
    title: t("removeTitle", one.name),
    text: t("groupRemoveText"),
    action: t("remove"),
    danger: true,
    fields: [],
    act: async () => {
      await remove(`${pathOf(one.name)}?revision=${one.revision}`);
      await done(t("modelRemoved", one.name));
    },
  });
  const line = (/** @type {Wire.Group} */ one) =>
    one.rules?.length
      ? html`<ul class="errors small">
    ${one.rules.slice(0, SHOWN).map((rule) => html`<li class="break">${ruleText(rule)}</li>`)}
      ${one.rules.length > SHOWN && html`<li class="dim">…</li>`}</ul>`
      : html`<span class="dim">
        ${t("groupNoRules")}</span>`;
  return html`<header class="head"><div><h1>${t("groups")}</h1><p class="dim">${t("groupsText")}</p></div>
    ${may && html`<a class="button" href=${href("operator/groups", { new: "group" })}>${t("newGroup")}</a>`}</header>
    ${told && html`<p class=${`told ${told.bad ? "bad" : "ok"}`} role="status">${told.text}</p>`}
    ${!rows && !told && html`<section class="card waiting" aria-busy="true"></section>`}
    ${
      rows &&
      html`<section class="card flush">
        <${Table} caption=${t("groups")} rows=${rows.map((one) => ({ ...one, id: one.name }))} columns=${
          /** @type {Column<Wire.Group>[]} */ ([
            {
              title: t("name"),
              show: (one) => html`<a class="break" href=${href("operator/groups", { group: one.name })}>
          <b>${one.name}</b></a>`,
            },
            { title: t("groupRules"), show: line },
            {
              title: t("accounts"),
              number: true,
              show: (one) =>
                one.accounts === null ? html`<span class="dim">${t("groupOthers")}</span>` : count(one.accounts),
            },
            { title: t("revision"), number: true, show: (one) => count(one.revision) },
            {
              title: "",
              show: (one) =>
                may &&
                html`<${RowDeeds} name=${one.name} items=${[
                  one.accounts !== null && { text: t("remove"), danger: true, act: () => setAsking(removal(one)) },
                ]}><a class="button quiet" href=${href("operator/groups", { group: one.name })}>${t("change")}</a><//>`,
            },
          ])
        } /></section>`
    }
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}`;
}
