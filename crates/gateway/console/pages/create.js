// Create: what to make on the left, what was made on the right, newest first.
import { html, useEffect, useMemo, useRef, useState } from "../lib.js";
import { local, t } from "../words.js";
import { quotaOf, time, took, words } from "../show.js";
import { get, remove, submit as send } from "../api.js";
import { go } from "../route.js";
import { catalogue, catalogueNow, isPicture, promptOf } from "../catalogue.js";
import { draftOf, keepDraft } from "../draft.js";
import { mover } from "../parts/deeds.js";
import { Intents, Operations, Tiles, first, intentOf } from "../parts/families.js";
import { Form, Prompt } from "../parts/form.js";
import { formTaker, withPiece } from "../parts/hands.js";
import { later } from "../parts/later.js";
import { RECENT, useMade } from "../parts/made.js";
import { pieces } from "../parts/pieces.js";
import { Prose } from "../parts/prose.js";
import { quote, unsaid } from "../parts/quote.js";
import { Result, asked } from "../parts/result.js";

const AsJson = later(() => import("../parts/as_json.js").then((part) => part.AsJson));
const Flags = later(() => import("../parts/flags.js").then((part) => part.Flags));
const Samples = later(() => import("../parts/samples.js").then((part) => part.Samples));
const Lightbox = later(() => import("../parts/lightbox.js").then((part) => part.Lightbox));
const EXAMPLES = ["example.1", "example.2", "example.3"];
/** Submits on their way at once. */
const MOST_SENDING = 4;
/** Choices of a field that are priced, and fields with such choices. */
const MOST_OPTIONS = 4;
const MOST_FIELDS = 6;

/** @param {Values} values */
const clean = (values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ""));

/** What each choice of the small fields would be put over the request. @param {Operation} operation */
function choicesOf(operation) {
  const few = (/** @type {Field} */ field) =>
    field.options && field.options.length > 1 && field.options.length <= MOST_OPTIONS;
  return operation.fields
    .filter(few)
    .slice(0, MOST_FIELDS)
    .flatMap((field) => (field.options || []).map((one) => ({ field: field.name, option: one })));
}

/**
 * Prices by field and choice, where a choice makes a difference.
 * @param {{ field: string; option: Json }[]} choices @param {(number | null)[]} prices
 */
function differences(choices, prices) {
  /** @type {Record<string, Record<string, number>>} */
  const found = {};
  choices.forEach(({ field, option }, place) => {
    if (typeof prices[place] === "number") found[field] = { ...found[field], [String(option)]: prices[place] };
  });
  return Object.fromEntries(Object.entries(found).filter(([, own]) => new Set(Object.values(own)).size > 1));
}

/** @type {{ price: number | null, prices: Record<string, Record<string, number>>, hint: Refusal | null }} */
const UNKNOWN = { price: null, prices: {}, hint: null };

/**
 * The price of what the form says now, of what could be chosen instead, and why it would be refused: one question,
 * asked while typing pauses.
 * @param {Operation | null} operation @param {Values} values
 */
function usePrice(operation, values) {
  const [state, setState] = useState(UNKNOWN);
  useEffect(() => {
    setState(UNKNOWN);
  }, [operation]);
  useEffect(() => {
    if (!operation) return undefined;
    const missing = unsaid(operation, values);
    if (!missing) {
      setState(UNKNOWN);
      return undefined;
    }
    let stale = false;
    const timer = setTimeout(() => {
      const choices = choicesOf(operation);
      const over = choices.map(({ field, option }) => ({ [field]: option }));
      quote(operation.name, clean({ ...values, ...missing }), over).then(
        (found) => {
          if (!stale) setState({ price: found.price, prices: differences(choices, found.choices), hint: null });
        },
        (error) => {
          const hint = error.field && !Object.keys(missing).length ? error : null;
          if (!stale) setState((old) => ({ ...old, price: null, hint }));
        },
      );
    }, 250);
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [operation, values]);
  return state;
}

/** @param {Operation | null} operation */
const modelOf = (operation) => operation?.fields.find((one) => one.name === "model" || one.name === "modelName");

/**
 * The models of the account, read once the page can be used: what is to be known of the chosen one, and what it takes.
 * @param {Operation | null} operation @param {Values} values
 */
function useModel(operation, values) {
  const [known, setKnown] = useState(
    /** @type {{ data: Wire.AccountModel[], part: typeof import("../parts/model.js") } | null} */ (null),
  );
  useEffect(() => {
    const idle = globalThis.requestIdleCallback || ((work) => setTimeout(work, 1000));
    const read = () =>
      Promise.all([get("/account/v1/models"), import("../parts/model.js")]).then(
        ([{ data }, part]) => setKnown({ data, part }),
        () => {},
      );
    idle(read);
  }, []);
  const field = modelOf(operation);
  const find = (/** @type {string} */ name) =>
    name ? known?.data.find((one) => one.name === name || one.aliases.includes(name)) : undefined;
  const model = field && find(values[field.name] ?? field.default);
  const form = useMemo(
    () => (model && known && operation ? known.part.narrowed(operation, model) : operation),
    [operation, model],
  );
  const note = model && known ? known.part.noteOf(model) : "";
  // Another model may not take what was chosen for the one before.
  const fit = (/** @type {Values} */ old, /** @type {Values} */ next) => {
    const other = field && next[field.name] !== old[field.name] && find(next[field.name]);
    return other && known && operation ? known.part.fitting(next, known.part.narrowed(operation, other)) : next;
  };
  // What each of the models to choose from costs, where it has a price of its own.
  const costOf = (/** @type {Wire.AccountModel | undefined} */ one) =>
    one && known ? known.part.priceLine(one.price, operation?.makes) : "";
  const options = (known && form?.fields.find((one) => one.name === field?.name)?.options) || [];
  const labels =
    field && options.length ? { [field.name]: Object.fromEntries(options.map((one) => [one, costOf(find(one))])) } : {};
  return { form, fit, notes: field && note ? { [field.name]: note } : {}, labels };
}

/**
 * What an operation took lately, from what is on the page.
 * @param {Job[] | null} jobs @param {Operation} operation
 */
function usual(jobs, operation) {
  const own = (jobs || []).filter((job) => job.operation === operation.name && job.status === "SUCCESS");
  const times = own
    .map((job) => time(job.finishedAt || "").getTime() - time(job.createdAt).getTime())
    .sort((a, b) => a - b);
  return times.length ? times[Math.floor(times.length / 2)] : null;
}

/**
 * What the form begins with: the draft, or for another operation the words of it.
 * @param {Draft | null} draft @param {string | undefined} wanted
 */
function begun(draft, wanted) {
  if (!draft || draft.op === wanted) return draft?.values || {};
  const find = (/** @type {string} */ name) => promptOf(catalogueNow()?.operations.find((one) => one.name === name));
  const [from, to] = [find(draft.op), find(wanted || "")];
  return from && to && draft.values[from.name] ? { [to.name]: draft.values[from.name] } : {};
}

/** The form's values, which outlive the page. @param {string} owner @param {Route} route @param {All | null} all */
function useValues(owner, route, all) {
  const [draft] = useState(() => draftOf(owner));
  const wanted = route.query.op || draftOf(owner)?.op;
  const operation = useMemo(
    () => all && (all.operations.find((one) => one.name === wanted) || first(all, all.families[0])),
    [all, wanted],
  );
  const [values, setValues] = useState(() => begun(draft, wanted));
  useEffect(() => {
    if (operation) keepDraft(owner, operation.name, values);
  }, [operation, values]);
  return { operation, values, setValues };
}

/** @param {{ who: Owner, route: Route, refresh: () => void }} given */
export function Create({ who, route, refresh }) {
  const owner = who.account.email;
  const balance = Number(who.account.balance);
  const [all, setAll] = useState(catalogueNow);
  const [problem, setProblem] = useState(/** @type {Refusal | null} */ (null));
  const [lost, setLost] = useState(false);
  const [sending, setSending] = useState(0);
  const [large, setLarge] = useState("");
  const [json, setJson] = useState(false);
  /** @type {Ref<HTMLElement>} */
  const top = useRef(null);
  const { jobs, watch, drop } = useMade();
  useEffect(() => {
    if (!all) catalogue().then(setAll, setProblem);
  }, []);
  // The first thing is what to show. A phone would open its keyboard over everything.
  useEffect(() => {
    if (!all || !matchMedia("(pointer: fine)").matches) return undefined;
    const frame = requestAnimationFrame(() => {
      const here = document.activeElement;
      if (here && here !== document.body && here.id !== "main") return;
      /** @type {HTMLElement | null} */ (document.querySelector(".form textarea"))?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, [Boolean(all)]);
  // Whoever measures finds here when the form could be used.
  useEffect(() => {
    if (all && !performance.getEntriesByName("usable").length) performance.mark("usable");
  }, [all]);
  const { operation, values, setValues } = useValues(owner, route, all);
  const { price, prices, hint } = usePrice(operation, values);
  const model = useModel(operation, values);
  /** @param {Operation} one @param {Values | null} [more] what it begins with */
  const choose = (one, more = null) => {
    /** @type {Values} */
    const keep = {};
    const [before, next] = [promptOf(operation), promptOf(one)];
    if (before && next && values[before.name]) keep[next.name] = values[before.name];
    const forced = one.fields.filter((field) => field.required && field.options && field.default === undefined);
    for (const field of forced) [keep[field.name]] = field.options || [];
    setValues({ ...keep, ...more });
    setProblem(null);
    go("create", { op: one.name }, { replace: true });
  };
  useEffect(() => {
    if (!operation) return;
    const forced = (/** @type {Field} */ field) => field.required && field.options && field.default === undefined;
    const missing = operation.fields.filter((field) => forced(field) && values[field.name] === undefined);
    const given = Object.fromEntries(missing.map((field) => [field.name, field.options?.[0]]));
    if (missing.length) setValues((old) => ({ ...given, ...old }));
  }, [operation]);
  if (!all || !operation) {
    return html`<div class="create"><section class="card form waiting" aria-busy="true">
      ${problem && html`<p class="problem" role="alert">${problem.message}</p>`}</section></div>`;
  }
  const run = async (/** @type {string} */ name, /** @type {Values} */ request) => {
    const target = all.operations.find((one) => one.name === name) || { path: "", name };
    setSending((now) => now + 1);
    setProblem(null);
    try {
      const answer = await send(target.path, request, () => setLost(true));
      const id = answer.data?.jobId;
      if (id) watch(id);
      else
        get("/jobs/v1?limit=1").then(
          ({ data }) => data[0] && watch(data[0].jobId),
          () => {},
        );
      refresh();
      const card = top.current?.getBoundingClientRect();
      if (card && card.top > innerHeight * 0.7) top.current.scrollIntoView({ behavior: "smooth" });
      else scrollTo({ top: 0, behavior: "smooth" });
    } catch (error) {
      setProblem(/** @type {Refusal} */ (error));
    } finally {
      setLost(false);
      setSending((now) => now - 1);
    }
  };
  const short = price !== null && price > balance;
  const submit = () => {
    if (sending < MOST_SENDING && !short) run(operation.name, clean(values));
  };
  const upwards = () => scrollTo({ top: 0, behavior: "smooth" });
  /** @param {Operation} target @param {Piece} piece @param {Values} [more] */
  const put = async (target, piece, more = {}) => {
    const field = /** @type {Field} */ (target.fields.find(isPicture));
    try {
      /** @type {Values} */
      const given = await withPiece(target, piece, more);
      const added = (/** @type {Values} */ old) =>
        field.type === "array" ? [...(old[field.name] || []), ...given[field.name]] : given[field.name];
      if (target === operation) setValues((old) => ({ ...old, ...given, [field.name]: added(old) }));
      else choose(target, given);
      upwards();
    } catch (error) {
      setProblem(/** @type {Refusal} */ (error));
    }
  };
  const use = (/** @type {Piece} */ piece) =>
    put(operation.fields.some(isPicture) ? operation : formTaker(all, piece.job), piece);
  const animate = (/** @type {Piece} */ piece) => {
    const target = mover(all);
    const prompt = promptOf(target);
    return put(target, piece, prompt ? { [prompt.name]: words(piece.job) } : {});
  };
  const prepare = (/** @type {Operation} */ one, /** @type {Values} */ request) => {
    choose(one, request);
    upwards();
  };
  const say = (/** @type {string} */ text) => {
    const target = promptOf(operation) ? operation : first(all, all.families[0]);
    const { name } = /** @type {Field} */ (promptOf(target));
    if (target === operation) setValues((old) => ({ ...old, [name]: text }));
    else choose(target, { [name]: text });
    upwards();
  };
  const discard = async (/** @type {Job} */ job) => {
    await remove(`/jobs/v1/${encodeURIComponent(job.jobId)}`);
    drop(job.jobId);
  };
  const hands = { follow: run, prepare, use, animate, say, drop: discard };
  const pathOf = (/** @type {Job} */ job) => all.operations.find((one) => one.name === job.operation)?.path || "/jobs";
  const items = (jobs || []).flatMap((job) => (job.status === "SUCCESS" ? pieces(job) : []));
  const prompt = promptOf(operation);
  const own = operation.example[prompt?.name || ""];
  const examples = [typeof own === "string" ? local(own) : "", ...EXAMPLES.map((key) => t(key))].filter(Boolean);
  const about = usual(jobs, operation);
  const shownProblem = problem || hint;
  const apart = problem && !operation.fields.some((field) => field.name === problem.field);
  const cost = [price === null ? "" : quotaOf(price), about === null ? "" : t("about", took(about))];
  const intent = intentOf(operation);
  const change = (/** @type {(old: Values) => Values} */ edit) => setValues((old) => model.fit(old, edit(old)));
  const given = {
    operation: model.form,
    values,
    change,
    submit,
    prices,
    problem: shownProblem,
    notes: model.notes,
    labels: model.labels,
  };
  const flags = (prompt && (prompt.items || prompt.schema)["x-flags"]) || [];
  const way = (
    /** @type {boolean} */ as,
    /** @type {string} */ text,
  ) => html`<button type="button" class=${as === json ? "active" : ""} aria-pressed=${as === json}
    onClick=${() => setJson(as)}>${text}</button>`;
  const chips = html`<div class="chips examples">${examples.slice(0, 3).map(
    (text) => html`
      <button type="button" class="chip" dir="auto" title=${text}
        onClick=${() => prompt && setValues((old) => ({ ...old, [prompt.name]: text }))}>
        ${text.length > 34 ? `${text.slice(0, 33)}…` : text}</button>`,
  )}</div>`;
  const filled = html`<${Form} key=${operation.name} ...${given} />`;
  return html`<h1 class="visually-hidden">${t("create")}</h1><div class="create">
    <section class="card form" aria-label=${t("create")}>
      <${Intents} all=${all} chosen=${intent} choose=${choose} />
      <form onSubmit=${(event) => {
        event.preventDefault();
        submit();
      }}>
        ${!json && html`<${Prompt} key="prompt" ...${given} between=${chips} />`}
        ${
          !json &&
          prompt &&
          flags.length > 0 &&
          html`<${Flags} key="flags" known=${flags} text=${values[prompt.name] || ""}
            change=${(edit) => change((old) => ({ ...old, [prompt.name]: edit(old[prompt.name] || "") }))} />`
        }
        <div class="what" key="what">
          <${Tiles} all=${all} intent=${intent} chosen=${operation.family}
            choose=${(family) => choose(first(all, family, intent))} />
          <${Operations} all=${all} family=${operation.family} chosen=${operation} choose=${choose} />
          <div class="row summary"><p class="dim">
            <${Prose} text=${`${local(operation.summary)}${t("fullStop")}`} /></p>
            <span class="space"></span>
            <div class="segments small" role="group" aria-label=${t("formOrJson")}>
              ${way(false, t("form"))}${way(true, "JSON")}</div></div>
        </div>
        ${
          json
            ? html`<${AsJson} key=${operation.name} operation=${operation} values=${clean(values)}
              change=${(whole) => change(() => whole)} />`
            : filled
        }
        <div class="make-bar">
          ${apart && html`<p class="problem" role="alert">${problem.message}</p>`}
          ${lost && html`<p class="problem" role="status">${t("offline")}</p>`}
          ${short && html`<p class="hint" role="status">${t("tooLittleOf", quotaOf(balance))}</p>`}
          <button class="button make" disabled=${short || sending >= MOST_SENDING}><b>${t("makeIt")}</b>
            <span>${cost.filter(Boolean).join(" · ")}</span></button>
        </div>
      </form>
    </section>
    <section class="made-list" ref=${top} aria-label=${t("results")} aria-busy=${jobs === null}>
      ${jobs?.length === 0 && html`<${Samples} all=${all} choose=${prepare} />`}
      ${(jobs || []).map(
        (job) => html`<${Result} key=${job.jobId} all=${all} job=${job} path=${pathOf(job)} hands=${hands}
        balance=${balance} again=${(failed) => run(failed.operation, asked(all, failed))}
        open=${(piece) => setLarge(piece.key)} />`,
      )}
      ${
        (jobs?.length ?? 0) >= RECENT &&
        html`<p class="row"><a class="button quiet" href="/console/library">
        ${t("allInLibrary")}</a></p>`
      }
    </section>
    ${
      large &&
      html`<${Lightbox} items=${items} at=${large} move=${setLarge} all=${all} hands=${hands} balance=${balance}
      close=${() => setLarge("")} />`
    }
  </div>`;
}
