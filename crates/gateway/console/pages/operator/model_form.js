// The form of a model: what it is like, then the rules of its fields, routes and price, and what last week would have
// cost.
import { html, useEffect, useRef, useState } from "../../lib.js";
import { many, t } from "../../words.js";
import { count, difference, why } from "../../show.js";
import { get, patch, post } from "../../api.js";
import { builtIn, likeOf, ruledFields } from "../../parts/likes.js";
import { priceLine, stateOf } from "../../parts/model.js";
import { EMPTY, changesOf, definitionOf, draftOf, newModel, partLine } from "../../parts/model_draft.js";
import { ModelFields } from "../../parts/model_fields.js";
import { ModelPrice } from "../../parts/model_price.js";
import { ModelRoutes } from "../../parts/model_routes.js";

/** @param {string} name */
const pathOf = (name) => `/admin/v1/models/${encodeURIComponent(name)}`;

/**
 * @param {{ id: string, title: string, value: string, change: (next: string) => void, hint?: string,
 * [more: string]: any }} given
 */
const Text = ({ id, title, value, change, hint = "", ...more }) => html`<div class="field">
  <label for=${id}>${title}</label>
    <input id=${id} value=${value} aria-describedby=${hint ? `${id}-hint` : undefined}
      onInput=${(event) => change(event.target.value)} ...${more} />
        ${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}</div>`;

/**
 * What a model can be like: built-in models by family, then operations.
 * @param {{ all: Like[], value: string, change: (next: string) => void }} given
 */
const Likes = ({ all, value, change }) => {
  const families = [...new Set(all.filter((one) => one.model).map((one) => one.family))];
  const options = (/** @type {Like[]} */ own) => own.map((one) => html`<option value=${one.name}>${one.name}</option>`);
  return html`<div class="field"><label for="model-like">${t("modelLike")}</label>
    <select id="model-like" required value=${value} aria-describedby="model-like-hint"
      onChange=${(event) => change(event.target.value)}>
    <option value="">${t("choose")}</option>
      ${value && !all.some((one) => one.name === value) && html`<option value=${value}>${value}</option>`}
    ${families.map(
      (family) =>
        html`<optgroup label=${family}>${options(all.filter((one) => one.family === family && one.model))}</optgroup>`,
    )}
    <optgroup label=${t("modelOperations")}>${options(all.filter((one) => !one.model))}</optgroup></select>
      <p class="hint" id="model-like-hint">${t("modelLikeHint")}</p></div>`;
};

/**
 * Which model it is: a new one by its name, or one that is built in.
 * @param {{ all: Like[], draft: ModelDraft, set: (part: Partial<ModelDraft>) => void, isNew: boolean, built: boolean,
 * setBuilt: (on: boolean) => void }} given
 */
function Which({ all, draft, set, isNew, built, setBuilt }) {
  const names = [...new Set(all.map((one) => one.model).filter(Boolean))];
  return html`${
    isNew &&
    html`<div class="segments" role="group" aria-label=${t("modelWhich")}>
      <button type="button" class=${built ? "" : "active"} aria-pressed=${!built} onClick=${() => setBuilt(false)}>
        ${t("modelNewOwn")}</button>
          <button type="button" class=${built ? "active" : ""} aria-pressed=${built} onClick=${() => setBuilt(true)}>
            ${t("modelBuiltIn")}</button></div>`
  }
    ${
      built &&
      isNew &&
      html`<div class="field"><label for="model-name">${t("name")}</label>
        <select id="model-name" required value=${draft.name} onChange=${(event) => set({ name: event.target.value })}>
          <option value="">${t("choose")}</option>${names.map((one) => html`<option value=${one}>${one}</option>`)}
            </select><p class="hint">${t("modelBuiltInHint")}</p></div>`
    }
    ${
      !built &&
      html`<div class="two">
        ${
          isNew &&
          html`<${Text} id="model-name" title=${t("name")} value=${draft.name} change=${(name) => set({ name })}
            hint=${t("modelNameHint")} required maxlength="64" pattern="[A-Za-z0-9._:\\/\\-]+" spellcheck="false"
              autocomplete="off" placeholder="seedream-4-5" />`
        }
      <${Text} id="model-title" title=${t("modelTitle")} value=${draft.title} change=${(title) => set({ title })}
        placeholder="Seedream 4.5" /></div>
      <${Likes} all=${all} value=${draft.like}
        change=${(like) => set({ like, fields: kept(draft.fields, likeOf(all, like)) })} />`
    }`;
}

/**
 * The rules of those fields that another model has as well.
 * @param {Record<string, Rule>} rules @param {Like | undefined} like
 */
function kept(rules, like) {
  const names = like ? ruledFields(like).map((field) => field.name) : [];
  return Object.fromEntries(Object.entries(rules).filter(([name]) => names.includes(name)));
}

/**
 * @param {{ draft: ModelDraft, set: (part: Partial<ModelDraft>) => void, rows: Wire.SoldModel[],
 * built: boolean }} given
 */
function Sold({ draft, set, rows, built }) {
  return html`<div class="field"><label class="switch">
    <input id="model-enabled" type="checkbox" checked=${draft.enabled}
      onChange=${(event) => set({ enabled: event.target.checked })} /><span>${t("modelEnabled")}</span></label></div>
    <${Text} id="model-aliases" title=${t("modelAliases")} value=${draft.aliases}
      change=${(aliases) => set({ aliases })} hint=${t("modelAliasesHint")} spellcheck="false" />
    ${
      !built &&
      html`<${Text} id="model-groups" title=${t("modelGroups")} value=${draft.groups}
        change=${(groups) => set({ groups })} hint=${t("modelGroupsHint")} spellcheck="false" />
      <div class="two">
        <${Text} id="model-retires" title=${t("modelRetiresOn")}
          type=${/^(\d{4}-\d\d-\d\d)?$/.test(draft.retires) ? "date" : "text"} value=${draft.retires}
            change=${(retires) => set({ retires })} hint=${t("modelRetiresHint")} />
      <${Text} id="model-successor" title=${t("modelSuccessor")} value=${draft.successor}
        change=${(successor) => set({ successor })} list="model-names" spellcheck="false" /></div>
      <datalist id="model-names">
        ${rows.filter((row) => row.name !== draft.name).map((row) => html`<option value=${row.name} />`)}</datalist>`
    }`;
}

/**
 * Somebody else's change: what it was about, and the choice between theirs and ours.
 * @param {{ base: ModelDraft, theirs: Wire.SoldModel, mine: Partial<Wire.ModelDefinition>, makes: string,
 * take: () => void, keep: () => void }} given
 */
function Conflict({ base, theirs, mine, makes, take, keep }) {
  const [was, now] = [definitionOf(base), definitionOf(draftOf(theirs))];
  const names = Object.keys(changesOf(base, draftOf(theirs)));
  return html`<section class="conflict" role="alert"><h2>${t("conflictTitle", theirs.revision)}</h2>
    <dl class="differences">
      ${names.map(
        (name) =>
          html`<dt>${t(`model.${name}`)}
            ${Object.hasOwn(mine, name) ? html` <span class="tag due">${t("conflictBoth")}</span>` : ""}</dt>
              <dd class="break"><del class="dim">${partLine(name, was, makes)}</del> → ${partLine(name, now, makes)}
                </dd>`,
      )}</dl>
    <div class="row"><button type="button" class="button quiet" onClick=${take}>${t("conflictTake")}</button>
      <button type="button" class="button quiet" onClick=${keep}>${t("conflictKeep")}</button></div></section>`;
}

/** @param {{ preview: Wire.ModelPreview }} given */
const Cost = ({ preview }) => html`<div class="cost" role="status">
  <p class="large">${count(preview.was)} → ${count(preview.wouldBe)} <small class="dim">
    ${difference(preview.was, preview.wouldBe)}</small></p>
  <p class="dim">${t("previewTitle")}: ${many(preview.jobs, "jobOne", "jobMany", count(preview.jobs))}
    ${preview.more ? ` ${t("latestOnly")}` : ""}</p>
  ${
    preview.wouldRefuse > 0 &&
    html`<details class="warn-text">
      <summary>${many(preview.wouldRefuse, "refusedOne", "refusedMany", count(preview.wouldRefuse))}</summary>
        <ul class="errors">
          ${[...new Set(preview.refused.map((one) => one.message))]
            .slice(0, 5)
            .map((message) => html`<li class="break">${why(message)}</li>`)}</ul></details>`
  }</div>`;

/**
 * Sends what the form says, and reads the other's change where there was one.
 * @param {Wire.SoldModel | null} row @param {ModelDraft} draft @param {(row: Wire.SoldModel) => void} done
 */
function useSaving(row, draft, done) {
  const [base, setBase] = useState(row);
  const [theirs, setTheirs] = useState(/** @type {Wire.SoldModel | null} */ (null));
  const [problem, setProblem] = useState(/** @type {Refusal | null} */ (null));
  const [preview, setPreview] = useState(/** @type {Wire.ModelPreview | null} */ (null));
  const [busy, setBusy] = useState(false);
  const changed = base ? changesOf(draftOf(base), draft) : newModel(draft);
  const send = (/** @type {string} */ query, /** @type {number | undefined} */ revision) =>
    base ? patch(`${pathOf(base.name)}${query}`, { ...changed, revision }) : post(`/admin/v1/models${query}`, changed);
  const act = async (
    /** @type {string} */ query,
    /** @type {number | undefined} */ revision,
    /** @type {(data: any) => void} */ good,
  ) => {
    setBusy(true);
    setProblem(null);
    setTheirs(null);
    try {
      good((await send(query, revision)).data);
    } catch (error) {
      const now =
        base && /** @type {Refusal} */ (error).status === 409
          ? await get(pathOf(base.name)).then(
              ({ data }) => data,
              () => null,
            )
          : null;
      if (now && now.revision !== revision) setTheirs(now);
      else setProblem(/** @type {Refusal} */ (error));
    }
    setBusy(false);
  };
  useEffect(() => {
    setPreview(null);
  }, [draft]);
  return {
    base,
    theirs,
    problem,
    preview,
    busy,
    changed,
    look: () => act("?preview=true", base?.revision, setPreview),
    save: () => act("", base?.revision, done),
    take: () => {
      setBase(theirs);
      setTheirs(null);
      return draftOf(/** @type {Wire.SoldModel} */ (theirs));
    },
    keep: () => {
      const now = /** @type {Wire.SoldModel} */ (theirs);
      setBase(now);
      act("", now.revision, done);
    },
  };
}

/**
 * @param {{ row: Wire.SoldModel | null, rows: Wire.SoldModel[], all: Like[], backends: Wire.Backend[],
 * leave: () => void, saved: (row: Wire.SoldModel) => void, may: boolean }} given
 */
export function ModelForm({ row, rows, all, backends, leave, saved, may }) {
  const [draft, setDraft] = useState(row ? draftOf(row) : EMPTY);
  const [built, setBuilt] = useState(Boolean(row && !row.like));
  /** @type {Ref<HTMLElement>} */
  const title = useRef(null);
  const saving = useSaving(row, draft, saved);
  useEffect(() => {
    title.current?.focus();
  }, []);
  const set = (/** @type {Partial<ModelDraft>} */ part) => setDraft((old) => ({ ...old, ...part }));
  const like = built ? builtIn(all, draft.name) : likeOf(all, draft.like);
  const fields = like ? ruledFields(like) : [];
  const state = stateOf(draft);
  const fixed = !may;
  const idle = saving.busy || fixed || (row && !Object.keys(saving.changed).length);
  const choose = (/** @type {boolean} */ now) => {
    setBuilt(now);
    set({ ...EMPTY, enabled: draft.enabled, routes: draft.routes });
  };
  return html`<header class="head">
    <div><h1 tabindex="-1" ref=${title} class="break">${row ? row.name : t("newModel")}</h1>
      <p class="dim">${row ? t("modelRevision", row.revision) : t("newModelText")}</p></div>
        <button type="button" class="button quiet" onClick=${leave}>${t("back")}</button></header>
    ${row?.declared && html`<p class="hint">${t("modelDeclared")}</p>`}
    <form class="job-page model-form"
      onSubmit=${(event) => {
        event.preventDefault();
        if (event.submitter?.value === "preview") saving.look();
        else saving.save();
      }}>
      <fieldset class="bare" disabled=${fixed}>
        <section class="card"><h2>${t("modelWhich")}</h2>
          <${Which} all=${all} draft=${draft} set=${set} isNew=${!row} built=${built} setBuilt=${choose} /></section>
        ${
          like &&
          html`<section class="card"><h2>${t("model.price")}</h2>
            <${ModelPrice} like=${like} fields=${fields} rules=${draft.fields} value=${draft.price}
              change=${(price) => set({ price })} /></section>
          ${
            !built &&
            html`<section class="card"><h2>${t("model.fields")}</h2>
              <p class="hint">${t("modelFieldsHint", draft.like)}</p>
                <${ModelFields} fields=${fields} value=${draft.fields} like=${draft.like}
                  change=${(rules) => set({ fields: rules })} /></section>`
          }
          <section class="card"><h2>${t("model.routes")}</h2>
            <${ModelRoutes} value=${draft.routes} change=${(routes) => set({ routes })} backends=${backends} />
              </section>
          <section class="card"><h2>${t("modelSold")}</h2>
            <${Sold} draft=${draft} set=${set} rows=${rows} built=${built} /></section>`
        }
      </fieldset>
      <aside><section class="card model-end">
        <h2 class="break">${draft.name || t("newModel")} <span class=${`tag ${state.kind}`}>${state.text}</span></h2>
        <p>${priceLine(draft.price, like?.makes) || (like ? t("priceAsLike", like.name) : "")}</p>
        ${
          saving.problem &&
          html`<p class="problem" role="alert">
            ${saving.problem.field ? html`<code>${saving.problem.field}</code>: ` : ""}${saving.problem.message}</p>`
        }
        ${
          saving.theirs &&
          html`<${Conflict} base=${draftOf(/** @type {Wire.SoldModel} */ (saving.base))} theirs=${saving.theirs}
            mine=${saving.changed} makes=${like?.makes} take=${() => setDraft(saving.take())} keep=${saving.keep} />`
        }
        ${saving.preview && html`<${Cost} preview=${saving.preview} />`}
        <div class="row"><button class="button quiet" value="preview" disabled=${idle || !like}>
          ${t("modelPreview")}</button><span class="space"></span>
            <button class="button" value="save" disabled=${idle || !like}>${t("save")}</button></div>
      </section></aside>
    </form>`;
}
