// Create: what to make on the left, what was made on the right, newest first.
import { html, useEffect, useMemo, useRef, useState } from "../lib.js";
import { t } from "../words.js";
import { count, isFinal, label } from "../show.js";
import { follow as followJob, get, post, submit as send } from "../api.js";
import { go } from "../route.js";
import { catalogue } from "../catalogue.js";
import { Form } from "../parts/form.js";
import { Prose } from "../parts/prose.js";
import { Result, shown } from "../parts/result.js";
import { Lightbox } from "../parts/lightbox.js";

const RECENT = 12;

/** What the account made lately, followed while it runs. */
function useMade() {
  const [jobs, setJobs] = useState(null);
  const followed = useRef(new Set());
  const put = (job) => setJobs((old) => {
    const others = (old || []).filter((one) => one.jobId !== job.jobId);
    const known = (old || []).some((one) => one.jobId === job.jobId);
    return known ? old.map((one) => (one.jobId === job.jobId ? { ...one, ...job } : one)) : [job, ...others].slice(0, 40);
  });
  const watch = (id) => {
    if (followed.current.has(id)) return;
    followed.current.add(id);
    followJob(id, put);
  };
  useEffect(() => {
    get(`/jobs/v1?limit=${RECENT}`).then(({ data }) => {
      setJobs(data);
      data.filter((job) => !isFinal(job)).forEach((job) => watch(job.jobId));
    }, () => setJobs([]));
  }, []);
  return { jobs, watch };
}

/** The price of what the form says now, asked for while typing pauses. */
function usePrice(operation, values) {
  const [price, setPrice] = useState(null);
  useEffect(() => {
    if (!operation) return undefined;
    const said = operation.fields.some((field) => values[field.name] !== undefined);
    const missing = operation.fields.some((field) => field.required && values[field.name] === undefined);
    if (missing || !said) { setPrice(null); return undefined; }
    let stale = false;
    const timer = setTimeout(() => {
      post("/account/v1/quote", { operation: operation.name, request: clean(values) })
        .then(({ data }) => { if (!stale) setPrice(data.quota ?? data.price); }, () => { if (!stale) setPrice(null); });
    }, 250);
    return () => { stale = true; clearTimeout(timer); };
  }, [operation, values]);
  return price;
}

const clean = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ""));

function Operations({ all, family, chosen, choose }) {
  const operations = all.operations.filter((one) => one.family === family && !one.follows);
  if (operations.length < 2) return null;
  return html`<div class="chips">${operations.map((one) => html`
    <button class=${`chip${one.name === chosen.name ? " active" : ""}`} aria-pressed=${one.name === chosen.name} onClick=${() => choose(one)} title=${one.summary}>
      ${label(one.name.split(".").pop())}</button>`)}</div>`;
}

/** What a family makes, as a picture of it; one without a picture has its name alone. */
const Tiles = ({ families, chosen, choose }) => html`<div class="tiles" role="group" aria-label="What to make">
  ${families.map((family) => html`<button class=${`tile${family === chosen ? " active" : ""}`} aria-pressed=${family === chosen} onClick=${() => choose(family)}>
    <img src=${`/console/tiles/${family.toLowerCase().replace(/[^a-z]+/g, "-")}.webp`} alt="" width="104" height="70" onError=${(event) => { event.target.hidden = true; }} /><span>${family}</span></button>`)}</div>`;

/** The way to begin with a family: one that needs words and no earlier job, if there is one. */
function first(all, family) {
  const own = all.operations.filter((one) => one.family === family);
  const free = own.filter((one) => !one.follows);
  const spoken = (one) => one.fields.some((field) => field.required && field.widget === "prompt");
  return free.find((one) => spoken(one) && one.fields.every((field) => !field.required || field.widget === "prompt")) || free.find(spoken) || free.find((one) => one.fields.some((field) => field.widget === "prompt")) || free[0] || own[0];
}

export function Create({ route, refresh }) {
  const [all, setAll] = useState(null);
  const [values, setValues] = useState({});
  const [problem, setProblem] = useState(null);
  const [sending, setSending] = useState(0);
  const [large, setLarge] = useState(null);
  const { jobs, watch } = useMade();
  useEffect(() => { catalogue().then(setAll, setProblem); }, []);
  const operation = useMemo(() => all && (all.operations.find((one) => one.name === route.query.op) || first(all, all.families[0])), [all, route.query.op]);
  const price = usePrice(operation, values);
  const choose = (one) => {
    const keep = {};
    const prompt = operation?.fields.find((field) => field.widget === "prompt");
    const next = one.fields.find((field) => field.widget === "prompt");
    if (prompt && next && values[prompt.name]) keep[next.name] = values[prompt.name];
    setValues(keep);
    setProblem(null);
    go("create", { op: one.name }, { replace: true });
  };
  const run = async (name, request) => {
    const target = all.operations.find((one) => one.name === name) || { path: "", name };
    setSending((now) => now + 1);
    setProblem(null);
    try {
      const answer = await send(target.path, request);
      const id = answer.data?.jobId;
      if (id) watch(id);
      else setTimeout(() => get("/jobs/v1?limit=1").then(({ data }) => data[0] && watch(data[0].jobId), () => {}), 50);
      refresh();
      scrollTo({ top: 0, behavior: "smooth" });
    } catch (error) {
      setProblem(error);
    } finally {
      setSending((now) => now - 1);
    }
  };
  const submit = () => run(operation.name, clean(values));
  const use = (file) => {
    const field = operation.fields.find((one) => one.widget === "image" || one.widget === "images");
    const target = field ? operation : all.operations.find((one) => !one.follows && one.fields.some((two) => two.widget === "image" && two.schema.format === "uri"));
    if (!target) return;
    const place = target.fields.find((one) => (one.widget === "image" || one.widget === "images") && (one.items || one.schema).format === "uri") || field;
    if (target !== operation) choose(target);
    setValues((old) => ({ ...old, [place.name]: place.type === "array" ? [...(old[place.name] || []), file.url] : file.url }));
  };
  if (!all) return html`<div class="create"><section class="card form" aria-busy="true"></section></div>`;
  const pathOf = (job) => all.operations.find((one) => one.name === job.operation)?.path;
  const items = (jobs || []).flatMap((job) => (job.status === "SUCCESS" ? shown(job).map((file) => ({ job, file })) : []));
  const examples = [operation.example[operation.fields.find((field) => field.widget === "prompt")?.name], "a fox in the rain", "lighthouse, ukiyo-e", "isometric village"].filter((text) => typeof text === "string");
  const prompt = operation.fields.find((field) => field.widget === "prompt");
  return html`<h1 class="visually-hidden">${t("create")}</h1><div class="create">
    <section class="card form" aria-label=${t("create")}>
      <${Tiles} families=${all.families} chosen=${operation.family} choose=${(family) => choose(first(all, family))} />
      <${Operations} all=${all} family=${operation.family} chosen=${operation} choose=${choose} />
      <p class="dim summary"><${Prose} text=${operation.summary} />.</p>
      <form onSubmit=${(event) => { event.preventDefault(); submit(); }}>
        <${Form} key=${operation.name} operation=${operation} values=${values} change=${setValues} problem=${problem} submit=${submit} />
        ${prompt && html`<div class="chips examples">${examples.slice(0, 3).map((text) => html`<button type="button" class="chip" onClick=${() => setValues({ ...values, [prompt.name]: text })}>${text.length > 34 ? `${text.slice(0, 33)}…` : text}</button>`)}</div>`}
        ${problem && !operation.fields.some((field) => field.name === problem.field) && html`<p class="problem" role="alert">${problem.message}</p>`}
        <button class="button make" disabled=${sending > 3}><b>${t("makeIt")}</b><span>${price === null ? "" : `${count(price)} ${t("quota")}`}</span></button>
      </form>
    </section>
    <section class="made-list" aria-label=${t("results")} aria-busy=${jobs === null}>
      ${jobs?.length === 0 && html`<p class="empty">${t("emptyMade")}</p>`}
      ${(jobs || []).map((job) => html`<${Result} key=${job.jobId} job=${job} path=${pathOf(job)} follow=${run} use=${use}
        again=${(failed) => run(failed.operation, Object.fromEntries(Object.entries(failed.request).filter(([name, value]) => value !== null && all.operations.find((one) => one.name === failed.operation)?.fields.some((field) => field.name === name))))}
        open=${(job, place) => setLarge(items.findIndex((one) => one.job.jobId === job.jobId) + place)} />`)}
    </section>
    ${large !== null && items[large] && html`<${Lightbox} items=${items} at=${large} move=${setLarge} close=${() => setLarge(null)} />`}
  </div>`;
}
