// Create: what to make on the left, what was made on the right, newest first.
import { html, useEffect, useMemo, useRef, useState } from "../lib.js";
import { t } from "../words.js";
import { deed, isFinal, quotaOf, tile, time, took } from "../show.js";
import { get, post, submit as send } from "../api.js";
import { follow as followJob, onJobs } from "../events.js";
import { go } from "../route.js";
import { catalogue, catalogueNow, isPicture, promptOf, taker, takesAddress } from "../catalogue.js";
import { Form } from "../parts/form.js";
import { Prose } from "../parts/prose.js";
import { Result, asked } from "../parts/result.js";
import { carried } from "../parts/picture_field.js";
import { shown } from "../parts/media.js";
import { later } from "../parts/later.js";

const Lightbox = later(() => import("../parts/lightbox.js").then((part) => part.Lightbox));
const RECENT = 12;
const EXAMPLES = ["example.1", "example.2", "example.3"];

/** What the account made lately, followed while it runs. */
function useMade() {
  const [jobs, setJobs] = useState(null);
  const followed = useRef(new Map());
  const put = (job) => setJobs((old) => {
    const known = (old || []).some((one) => one.jobId === job.jobId);
    // News of a job leave out what was asked; one that is not here yet comes whole with the first answer.
    if (!known && !job.request) return old;
    return known ? old.map((one) => (one.jobId === job.jobId ? { ...one, ...job } : one)) : [job, ...(old || [])].slice(0, 40);
  });
  const watch = (id) => {
    if (!followed.current.has(id)) followed.current.set(id, followJob(id, put));
  };
  useEffect(() => {
    get(`/jobs/v1?limit=${RECENT}`).then(({ data }) => {
      setJobs(data);
      data.filter((job) => !isFinal(job)).forEach((job) => watch(job.jobId));
    }, () => setJobs([]));
    // What another page or a program of the same account makes appears here as well.
    const leave = onJobs((job) => { if (!isFinal(job)) watch(job.jobId); });
    return () => { leave(); followed.current.forEach((stop) => stop()); };
  }, []);
  return { jobs, watch };
}

const clean = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ""));

const quote = (operation, request) => post("/account/v1/quote", { operation: operation.name, request }).then(({ data }) => Number(data.quota));

/** What has to be said and is not said yet, as the example says it, so that the price is there before the first word; nothing
 * where only a job of the account's own would do. */
function unsaid(operation, values) {
  const missing = operation.fields.filter((field) => field.required && field.default === undefined && (values[field.name] ?? "") === "");
  const assumed = missing.map((field) => [field.name, field.widget === "prompt" ? t("example.1") : operation.example[field.name]]);
  return missing.some((field) => field.widget === "job") || assumed.some(([, value]) => value === undefined) ? null : Object.fromEntries(assumed);
}

/** The price of what the form says now, and why it would be refused: asked for while typing pauses. */
function usePrice(operation, values) {
  const [state, setState] = useState({ price: null, hint: null });
  useEffect(() => {
    if (!operation) return undefined;
    const missing = unsaid(operation, values);
    if (!missing) { setState({ price: null, hint: null }); return undefined; }
    let stale = false;
    const timer = setTimeout(() => {
      quote(operation, clean({ ...values, ...missing })).then(
        (price) => { if (!stale) setState({ price, hint: null }); },
        (error) => { if (!stale) setState({ price: null, hint: error.field && !Object.keys(missing).length ? error : null }); },
      );
    }, 250);
    return () => { stale = true; clearTimeout(timer); };
  }, [operation, values]);
  return state;
}

/** What each choice would cost where that makes a difference; asked anew when a choice changes, not while typing. */
function useChoicePrices(operation, values, price) {
  const [prices, setPrices] = useState({});
  const fields = (operation?.fields || []).filter((field) => field.options && field.options.length > 1 && field.options.length <= 4 && !/hook|format/i.test(field.name));
  const chosen = JSON.stringify([operation?.name, fields.map((field) => values[field.name] ?? field.default)]);
  useEffect(() => { setPrices({}); }, [operation]);
  useEffect(() => {
    if (price === null || !fields.length) return undefined;
    let stale = false;
    (async () => {
      const found = {};
      for (const field of fields.slice(0, 4)) {
        const all = await Promise.all(field.options.map((one) => quote(operation, clean({ ...values, ...unsaid(operation, values), [field.name]: one })).catch(() => undefined)));
        if (stale) return;
        if (new Set(all.filter((one) => one !== undefined)).size > 1) found[field.name] = Object.fromEntries(field.options.map((one, place) => [String(one), all[place]]));
      }
      setPrices(found);
    })();
    return () => { stale = true; };
  }, [chosen, price === null]);
  return prices;
}

const modelOf = (operation) => operation?.fields.find((one) => one.name === "model" || one.name === "modelName");

/** The models of the account, read once the page can be used: what is to be known of the chosen one, and what it takes. */
function useModel(operation, values) {
  const [known, setKnown] = useState(null);
  useEffect(() => {
    const idle = globalThis.requestIdleCallback || ((work) => setTimeout(work, 1000));
    idle(() => Promise.all([get("/account/v1/models"), import("../parts/model.js")]).then(([{ data }, part]) => setKnown({ data, part }), () => {}));
  }, []);
  const field = modelOf(operation);
  const find = (name) => (name ? known?.data.find((one) => one.name === name || one.aliases.includes(name)) : undefined);
  const model = field && find(values[field.name] ?? field.default);
  const form = useMemo(() => (model ? known.part.narrowed(operation, model) : operation), [operation, model]);
  const note = model ? known.part.noteOf(model) : "";
  // Another model may not take what was chosen for the one before.
  const fit = (next) => {
    const other = field && next[field.name] !== values[field.name] && find(next[field.name]);
    return other ? known.part.fitting(next, known.part.narrowed(operation, other)) : next;
  };
  return { form, fit, notes: note ? { [field.name]: note } : {} };
}

function Operations({ all, family, chosen, choose }) {
  const operations = all.operations.filter((one) => one.family === family && (!one.follows || one.name === chosen.name));
  if (operations.length < 2) return null;
  return html`<div class="chips" role="group" aria-label=${t("way")}>${operations.map((one) => html`
    <button type="button" class=${`chip${one.name === chosen.name ? " active" : ""}`} aria-pressed=${one.name === chosen.name} onClick=${() => choose(one)} title=${one.summary}>${deed(one.name)}</button>`)}</div>`;
}

/** What a family makes, as a picture of it; one without a picture has its name alone. */
function Tiles({ all, chosen, choose }) {
  const makes = (family) => (all.operations.filter((one) => one.family === family).every((one) => one.makes === "video") || first(all, family).makes === "video" ? "video" : "picture");
  const kind = makes(chosen);
  const kinds = ["picture", "video"].filter((one) => all.families.some((family) => makes(family) === one));
  return html`<div class="segments" role="group" aria-label=${t("whatMake")}>${kinds.map((one) => html`<button type="button" class=${one === kind ? "active" : ""} aria-pressed=${one === kind}
      onClick=${() => one !== kind && choose(all.families.find((family) => makes(family) === one))}>${t(one === "video" ? "videos" : "pictures")}</button>`)}</div>
    <div class="tiles" role="group" aria-label=${t("family")}>
    ${all.families.filter((family) => makes(family) === kind).map((family) => html`<button type="button" key=${family} class=${`tile${family === chosen ? " active" : ""}`} aria-pressed=${family === chosen} onClick=${() => choose(family)}>
      <img src=${tile(family)} alt="" width="104" height="70" onError=${(event) => { event.target.hidden = true; }} /><span>${family}</span></button>`)}</div>`;
}

/** The way to begin with a family: one that needs words and no earlier job, if there is one. */
function first(all, family) {
  const own = all.operations.filter((one) => one.family === family);
  const free = own.filter((one) => !one.follows);
  const spoken = (one) => one.fields.some((field) => field.required && field.widget === "prompt");
  return free.find((one) => spoken(one) && one.fields.every((field) => !field.required || field.widget === "prompt" || field.options)) || free.find(spoken) || free.find((one) => promptOf(one)) || free[0] || own[0];
}

/** What an operation took lately, from what is on the page. */
function usual(jobs, operation) {
  const times = (jobs || []).filter((job) => job.operation === operation.name && job.status === "SUCCESS")
    .map((job) => time(job.finishedAt).getTime() - time(job.createdAt).getTime()).sort((a, b) => a - b);
  return times.length ? times[Math.floor(times.length / 2)] : null;
}

export function Create({ route, refresh }) {
  const [all, setAll] = useState(catalogueNow);
  const [values, setValues] = useState({});
  const [problem, setProblem] = useState(null);
  const [sending, setSending] = useState(0);
  const [large, setLarge] = useState(null);
  const top = useRef(null);
  const { jobs, watch } = useMade();
  useEffect(() => { if (!all) catalogue().then(setAll, setProblem); }, []);
  // Whoever measures finds here when the form could be used.
  useEffect(() => { if (all && !performance.getEntriesByName("usable").length) performance.mark("usable"); }, [all]);
  const operation = useMemo(() => all && (all.operations.find((one) => one.name === route.query.op) || first(all, all.families[0])), [all, route.query.op]);
  const { price, hint } = usePrice(operation, values);
  const prices = useChoicePrices(operation, values, price);
  const model = useModel(operation, values);
  const choose = (one, more = null) => {
    const keep = {};
    const [before, next] = [promptOf(operation), promptOf(one)];
    if (before && next && values[before.name]) keep[next.name] = values[before.name];
    for (const field of one.fields) if (field.required && field.options && field.default === undefined) [keep[field.name]] = field.options;
    setValues({ ...keep, ...more });
    setProblem(null);
    go("create", { op: one.name }, { replace: true });
  };
  useEffect(() => {
    if (!operation) return;
    const missing = operation.fields.filter((field) => field.required && field.options && field.default === undefined && values[field.name] === undefined);
    if (missing.length) setValues((old) => ({ ...Object.fromEntries(missing.map((field) => [field.name, field.options[0]])), ...old }));
  }, [operation]);
  const run = async (name, request) => {
    const target = all.operations.find((one) => one.name === name) || { path: "", name };
    setSending((now) => now + 1);
    setProblem(null);
    try {
      const answer = await send(target.path, request);
      const id = answer.data?.jobId;
      if (id) watch(id);
      else get("/jobs/v1?limit=1").then(({ data }) => data[0] && watch(data[0].jobId), () => {});
      refresh();
      const card = top.current?.getBoundingClientRect();
      if (card && card.top > innerHeight * 0.7) top.current.scrollIntoView({ behavior: "smooth" });
      else scrollTo({ top: 0, behavior: "smooth" });
    } catch (error) {
      setProblem(error);
    } finally {
      setSending((now) => now - 1);
    }
  };
  const submit = () => { if (sending < 4) run(operation.name, clean(values)); };
  const put = async (target, file, more = {}) => {
    const field = target.fields.find(isPicture);
    try {
      const picture = await carried(file.url, !takesAddress(field));
      const earlier = target === operation ? values[field.name] : undefined;
      const value = field.type === "array" ? [...(earlier || []), picture] : picture;
      if (target === operation) setValues((old) => ({ ...old, ...more, [field.name]: value }));
      else choose(target, { ...more, [field.name]: value });
      scrollTo({ top: 0, behavior: "smooth" });
    } catch (error) {
      setProblem(error);
    }
  };
  const use = (file) => put(operation.fields.some(isPicture) ? operation : taker(all, operation.family), file);
  const mover = all && taker(all, "", (one) => one.makes === "video" && one.fields.some((field) => isPicture(field) && takesAddress(field)));
  const animate = mover && ((file, job) => put(mover, file, promptOf(mover) ? { [promptOf(mover).name]: asked(all, job)[promptOf(mover).name] || "" } : {}));
  const prepare = (one, request) => {
    if (one) choose(one, request);
    else {
      const prompt = promptOf(operation) || promptOf(first(all, all.families[0]));
      if (promptOf(operation)) setValues((old) => ({ ...old, [prompt.name]: request.words }));
      else choose(first(all, all.families[0]), { [prompt.name]: request.words });
    }
    scrollTo({ top: 0, behavior: "smooth" });
  };
  if (!all) return html`<div class="create"><section class="card form waiting" aria-busy="true">${problem && html`<p class="problem" role="alert">${problem.message}</p>`}</section></div>`;
  const pathOf = (job) => all.operations.find((one) => one.name === job.operation)?.path || "/jobs";
  const items = (jobs || []).flatMap((job) => (job.status === "SUCCESS" ? shown(job).map((file) => ({ job, file })) : []));
  const prompt = promptOf(operation);
  const examples = [operation.example[prompt?.name], ...EXAMPLES.map((key) => t(key))].filter((text) => typeof text === "string");
  const about = usual(jobs, operation);
  const shownProblem = problem || hint;
  return html`<h1 class="visually-hidden">${t("create")}</h1><div class="create">
    <section class="card form" aria-label=${t("create")}>
      <${Tiles} all=${all} chosen=${operation.family} choose=${(family) => choose(first(all, family))} />
      <${Operations} all=${all} family=${operation.family} chosen=${operation} choose=${choose} />
      <p class="dim summary"><${Prose} text=${operation.summary} />.</p>
      <form onSubmit=${(event) => { event.preventDefault(); submit(); }}>
        <${Form} key=${operation.name} operation=${model.form} values=${values} change=${(next) => setValues(model.fit(next))} problem=${shownProblem} submit=${submit} prices=${prices} notes=${model.notes}
          between=${prompt && html`<div class="chips examples">${examples.slice(0, 3).map((text) => html`<button type="button" class="chip" title=${text} onClick=${() => setValues({ ...values, [prompt.name]: text })}>${text.length > 34 ? `${text.slice(0, 33)}…` : text}</button>`)}</div>`} />
        <div class="make-bar">
          ${problem && !operation.fields.some((field) => field.name === problem.field) && html`<p class="problem" role="alert">${problem.message}</p>`}
          <button class="button make" disabled=${sending > 3}><b>${t("makeIt")}</b><span>${[price === null ? "" : quotaOf(price), about === null ? "" : t("about", took(about))].filter(Boolean).join(" · ")}</span></button>
        </div>
      </form>
    </section>
    <section class="made-list" ref=${top} aria-label=${t("results")} aria-busy=${jobs === null}>
      ${jobs?.length === 0 && html`<div class="empty"><p class="empty-title">${t("emptyMadeTitle")}</p><p>${t("emptyMade")}</p></div>`}
      ${(jobs || []).map((job) => html`<${Result} key=${job.jobId} all=${all} job=${job} path=${pathOf(job)} follow=${run} prepare=${prepare} use=${use} animate=${animate}
        again=${(failed) => run(failed.operation, asked(all, failed))}
        open=${(one, place) => setLarge(items.findIndex((item) => item.job.jobId === one.jobId) + place)} />`)}
      ${jobs?.length >= RECENT && html`<p class="row"><a class="button quiet" href="/console/library">${t("allInLibrary")}</a></p>`}
    </section>
    ${large !== null && items[large] && html`<${Lightbox} items=${items} at=${large} move=${setLarge} use=${use} close=${() => setLarge(null)} />`}
  </div>`;
}
