// Library: everything the account made, as a wall by day. Filters live in the address.
import { html, useEffect, useMemo, useRef, useState } from "../lib.js";
import { many, t } from "../words.js";
import { count, day, isFinal, isVideo, state, why, words } from "../show.js";
import { get } from "../api.js";
import { onJobs } from "../events.js";
import { go, href } from "../route.js";
import { catalogue, catalogueNow } from "../catalogue.js";
import { later } from "../parts/later.js";
import { useHands } from "../parts/hands.js";
import { Media, shown } from "../parts/media.js";
import { isStill, pieces } from "../parts/pieces.js";
import { Wall } from "../parts/wall.js";
import { LibraryFilters } from "../parts/library_filters.js";
import { FAVOURITES, cleanName, jobsOf, useShelves } from "../parts/shelves.js";
import { START, asked as where, onward, totalOf } from "../parts/onward.js";

const Ask = later(() => import("../parts/ask.js").then((part) => part.Ask));
const Compare = later(() => import("../parts/compare.js").then((part) => part.Compare));
const Lightbox = later(() => import("../parts/lightbox.js").then((part) => part.Lightbox));
const PAGE = 60;
const WEEK_MS = 7 * 86_400_000;
/** What a filter asks for; its name is in the address. */
/** @type {Record<string, () => string>} */
const KINDS = {
  all: () => "",
  pictures: () => "&makes=picture&status=success",
  videos: () => "&makes=video&status=success",
  running: () => "&unfinished=true",
  failed: () => "&status=failed",
  week: () => `&since=${new Date(Date.now() - WEEK_MS).toISOString().slice(0, 10)}`,
};

/** What a job without pictures told, as the prompts it found; otherwise what it was asked for. @param {Job} job */
function told(job) {
  const prompts = job.result?.data?.prompts || job.result?.prompts;
  return Array.isArray(prompts) && typeof prompts[0] === "string" ? prompts[0] : words(job);
}

/** So many jobs of a shelf are read at once, each by itself. */
const SHELF_PAGE = 24;

/**
 * @param {{ job: Job, open: () => void, marked: boolean, mark: (through: boolean) => void, liked: boolean,
 * like: () => void }} given
 */
function Thumb({ job, open, marked, mark, liked, like }) {
  const file = shown(job)[0];
  if (!file) {
    const bad = job.status === "FAILED";
    const news = isFinal(job) ? state(job) : `${state(job)} · ${job.progress} %`;
    return html`<a class=${`thumb text${bad ? " bad" : ""}${isFinal(job) ? "" : " at-work"}`}
      href=${href(`job/${job.jobId}`)}>
      <b aria-hidden="true">${bad ? "!" : isFinal(job) ? "“" : "…"}</b>
        <span dir="auto">${bad ? why(job.message) : told(job)}</span>
      <small>${news}</small></a>`;
  }
  const several = pieces(job).length;
  return html`<div class=${`thumb-frame${marked ? " marked" : ""}`}>
    <button class="thumb" data-job=${job.jobId} onClick=${open} title=${words(job)} aria-label=${words(job)}>
      <${Media} file=${file} alt="" small=${true} /></button>
    ${
      (isVideo(file) || several > 1) &&
      html`<small class="length" aria-hidden="true">${isVideo(file) ? "▶" : several}</small>`
    }
    <button type="button" class=${`like${liked ? " liked" : ""}`} aria-pressed=${liked} title=${t("favourite")}
      aria-label=${`${t("favourite")}: ${words(job)}`} onClick=${like}><span aria-hidden="true">
        ${liked ? "★" : "☆"}</span></button>
    <label class="mark" title=${t("mark")}><input type="checkbox" checked=${marked}
      aria-label=${`${t("mark")}: ${words(job)}`} onClick=${(event) => mark(event.shiftKey)} /></label>
  </div>`;
}

/** The jobs under the headings of their days. @param {Job[]} jobs */
function byDay(jobs) {
  /** @type {{ heading: string, jobs: Job[] }[]} */
  const days = [];
  for (const job of jobs) {
    const heading = day(job.createdAt);
    const last = days.at(-1);
    if (last && last.heading === heading) last.jobs.push(job);
    else days.push({ heading, jobs: [job] });
  }
  return days;
}

/**
 * Arrows and j, k go from picture to picture; x marks one, with shift all since the mark before; an arrow with shift
 * marks on the way; Escape takes all marks away.
 * @param {(id: string, through?: boolean, came?: string) => void} mark @param {() => void} clear
 */
function useWallKeys(mark, clear) {
  useEffect(() => {
    const press = (/** @type {KeyboardEvent} */ event) => {
      const typing = /** @type {Element} */ (event.target).closest?.(
        "input:not([type=checkbox]), textarea, select, dialog",
      );
      if (typing || event.metaKey || event.ctrlKey || event.altKey) return;
      const all = [...document.querySelectorAll(".wall .thumb")];
      const own = document.activeElement?.closest(".thumb-frame, .thumb");
      const focused = own?.matches(".thumb") ? own : own?.querySelector(".thumb");
      const here = focused ? all.indexOf(focused) : -1;
      const columns = all.filter(
        (one) => one.getBoundingClientRect().top === all[0].getBoundingClientRect().top,
      ).length;
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const by = { ArrowRight: 1, j: 1, ArrowLeft: -1, k: -1, ArrowDown: columns, ArrowUp: -columns }[key];
      const idAt = (/** @type {number} */ place) => all[place]?.getAttribute("data-job") || "";
      if (key === "x" && idAt(here)) mark(idAt(here), event.shiftKey);
      if (key === "Escape") clear();
      if (by === undefined || !all.length || (here < 0 && event.key.startsWith("Arrow"))) return;
      event.preventDefault();
      const to = Math.min(all.length - 1, Math.max(0, here < 0 ? 0 : here + by));
      const next = /** @type {HTMLElement} */ (all[to]);
      next.focus();
      next.scrollIntoView({ block: "nearest" });
      if (event.shiftKey && event.key.startsWith("Arrow") && idAt(here)) mark(idAt(to), true, idAt(here));
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}

/** So many results can be laid beside each other. */
const MOST_COMPARED = 4;

/** @param {{ who: Owner, route: Route }} given */
export function Library({ who, route }) {
  const kind = KINDS[route.query.show] ? route.query.show : "all";
  const text = route.query.q || "";
  const { op = "", model = "", shelf = "" } = route.query;
  const shelves = useShelves(who.account.email);
  const [filing, setFiling] = useState(false);
  const [jobs, setJobs] = useState(/** @type {Job[] | null} */ (null));
  const [total, setTotal] = useState(0);
  const [problem, setProblem] = useState("");
  const [large, setLarge] = useState("");
  const [all, setAll] = useState(catalogueNow);
  const [dropping, setDropping] = useState(false);
  useEffect(() => {
    if (!all && !who.looking) catalogue().then(setAll, () => {});
  }, []);
  const gone = (/** @type {Job} */ job) => {
    setJobs((old) => (old || []).filter((one) => one.jobId !== job.jobId));
    setMarked((old) => old.filter((id) => id !== job.jobId));
    setTotal((now) => now - 1);
  };
  const { told: news, hands } = useHands(who.looking ? null : all, who.account.email, { removed: gone });
  const [marked, setMarked] = useState(/** @type {string[]} */ ([]));
  const [comparing, setComparing] = useState(false);
  /** @type {Ref<HTMLElement>} */
  const end = useRef(null);
  const asked = useRef(0);
  const [next, setNext] = useState(/** @type {Way | null} */ (null));
  const page = (/** @type {Way} */ way) => {
    const given = { q: text.trim(), operation: op, model };
    const said = Object.entries(given).filter(([, value]) => value);
    const more = said.map(([name, value]) => `&${name}=${encodeURIComponent(value)}`).join("");
    return get(`/jobs/v1?limit=${PAGE}${where(way)}${KINDS[kind]()}${more}`);
  };
  // What lies on a shelf is read job by job; the service does not know what belongs together here.
  const onShelf = async (/** @type {Way} */ way) => {
    const ids = shelves.of(shelf);
    const begin = (way.page - 1) * SHELF_PAGE;
    return { data: await jobsOf(ids.slice(begin, begin + SHELF_PAGE)), total: ids.length };
  };
  const read = (/** @type {Way} */ way, /** @type {boolean} */ keep) => {
    asked.current += 1;
    const mine = asked.current;
    return (shelf ? onShelf(way) : page(way)).then(
      (answer) => {
        if (mine !== asked.current) return;
        setNext(onward(answer, way, shelf ? SHELF_PAGE : PAGE));
        setJobs(
          keep ? (old) => [...(old || []), ...answer.data.filter((job) => !known.current.has(job.jobId))] : answer.data,
        );
        setTotal(totalOf(answer, way));
        setProblem("");
      },
      (error) => {
        if (mine === asked.current) setProblem(error.message);
      },
    );
  };
  useEffect(() => {
    const timer = setTimeout(() => read(START, false), text ? 220 : 0);
    return () => clearTimeout(timer);
  }, [kind, text, op, model, shelf]);
  const narrowed = kind !== "all" || Boolean(text || op || model || shelf);
  // What runs changes in its place as the service tells; what is new comes first where nothing is filtered out.
  const known = useRef(/** @type {Set<string>} */ (new Set()));
  const { days, items, open } = useMemo(() => {
    known.current = new Set((jobs || []).map((job) => job.jobId));
    return {
      days: byDay(jobs || []),
      items: (jobs || []).flatMap(pieces),
      open: (jobs || []).filter((job) => !isFinal(job)),
    };
  }, [jobs]);
  useEffect(
    () =>
      onJobs(
        (news) => {
          if (known.current.has(news.jobId)) {
            setJobs((old) => (old || []).map((job) => (job.jobId === news.jobId ? { ...job, ...news } : job)));
            return;
          }
          if (narrowed || !known.current.size) return;
          known.current.add(news.jobId);
          get(`/jobs/v1/${encodeURIComponent(news.jobId)}`).then(
            ({ data }) => {
              setJobs((old) => ((old || []).some((job) => job.jobId === data.jobId) ? old : [data, ...(old || [])]));
              setTotal((now) => now + 1);
            },
            () => {},
          );
        },
        () => {
          if (known.current.size <= PAGE) read(START, false);
        },
      ),
    [kind, text, op, model, shelf],
  );
  const more = jobs && next;
  useEffect(() => {
    if (!more || !end.current) return undefined;
    const watcher = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) {
          watcher.disconnect();
          read(next, true);
        }
      },
      { rootMargin: "900px" },
    );
    watcher.observe(end.current);
    return () => watcher.disconnect();
  }, [more, jobs]);
  const latest = useRef("");
  // With shift, everything from the mark before (or from where somebody came from) to this one is marked.
  const toggle = (/** @type {string} */ id, through = false, came = "") => {
    const ids = (jobs || []).filter((job) => shown(job)[0]).map((job) => job.jobId);
    const begun = came && !marked.includes(latest.current) ? came : latest.current || came;
    const [from, to] = [ids.indexOf(begun), ids.indexOf(id)].sort((a, b) => a - b);
    latest.current = id;
    if (through && from >= 0) setMarked((old) => [...new Set([...old, ...ids.slice(from, to + 1)])]);
    else setMarked((old) => (old.includes(id) ? old.filter((one) => one !== id) : [...old, id]));
  };
  const [packing, setPacking] = useState(/** @type {number | null} */ (null));
  const save = async () => {
    setPacking(0);
    try {
      const part = await import("../parts/archive.js");
      await part.saveJobs(chosen, setPacking);
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    }
    setPacking(null);
  };
  useWallKeys(toggle, () => setMarked([]));
  const chosen = marked.map((id) => (jobs || []).find((job) => job.jobId === id)).filter((job) => job !== undefined);
  const compared = chosen
    .map((job) => ({ key: job.jobId, job, file: shown(job)[0], quarter: 0 }))
    .filter((one) => one.file && isStill(one));
  const address = (/** @type {string} */ show, q = text) => ({ show: show === "all" ? "" : show, q, op, model });
  const like = (/** @type {string} */ id) =>
    (shelves.has(FAVOURITES, id) ? shelves.take : shelves.put)(FAVOURITES, [id]);
  const takeOut = () => {
    shelves.take(shelf, marked);
    setJobs((old) => (old || []).filter((job) => !marked.includes(job.jobId)));
    setTotal((now) => now - marked.length);
    setMarked([]);
  };
  return html`
    <header class="head"><div><h1>${t("library")}</h1>
      <p class="dim">
        ${
          jobs
            ? `${count(total)}${next?.after ? "+" : ""} ${t(total === 1 ? "result" : "results")}${
                open.length ? ` · ${open.length} ${t("running")}` : ""
              }`
            : " "
        }</p></div>
      <input type="search" class="filter" placeholder=${t("searchWords")} aria-label=${t("searchWords")} value=${text}
        onInput=${(event) => go("library", address(kind, event.target.value), { replace: true })} />
      <nav class="chips" aria-label=${t("filters")}>
        ${Object.keys(KINDS).map(
          (one) => html`<a class=${`chip${one === kind ? " active" : ""}`}
            aria-current=${one === kind ? "true" : undefined} href=${href("library", address(one))}>
              ${t(`show.${one}`)}</a>`,
        )}</nav>
    </header>
    <${LibraryFilters} all=${all} shelves=${shelves} query=${route.query}
      change=${(part) => go("library", { ...route.query, ...part })} />
    ${
      shelf &&
      html`<p class="row dim"><span>${t("shelfIsHere")}</span>
      ${
        shelf !== FAVOURITES &&
        html`<button type="button" class="plain accent" onClick=${() => {
          shelves.drop(shelf);
          go("library", {}, { replace: true });
        }}>${t("folderRemove", shelf)}</button>`
      }</p>`
    }
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      !jobs &&
      !problem &&
      html`<div class="wall" aria-busy="true">
        ${Array.from({ length: 12 }, () => html`<span class="coming"></span>`)}</div>`
    }
    ${
      jobs &&
      !jobs.length &&
      !next &&
      (narrowed
        ? html`<p class="empty">${t("nothingFound")}</p>`
        : html`<div class="empty"><p class="empty-title">${t("emptyLibrary")}</p>
        <p><a class="button" href=${href("create")}>${t("makeFirst")}</a></p></div>`)
    }
    ${days.map(
      (one) => html`<section key=${one.heading} aria-label=${one.heading}><h2 class="day">${one.heading}</h2>
      <${Wall} items=${one.jobs}
        tile=${(job) =>
          html`<${Thumb} key=${job.jobId} job=${job} marked=${marked.includes(job.jobId)}
            mark=${(through) => toggle(job.jobId, through)}
            liked=${shelves.has(FAVOURITES, job.jobId)} like=${() => like(job.jobId)}
              open=${() => setLarge(items.find((item) => item.job.jobId === job.jobId)?.key || "")} />`} /></section>`,
    )}
    ${more && html`<div ref=${end} class="end"></div>`}
    ${
      chosen.length > 0 &&
      html`<div class="marked-bar" role="status"><span>${t("markedCount", chosen.length)}</span>
      <button class="button" disabled=${compared.length < 2 || compared.length > MOST_COMPARED}
        title=${t("compareUpTo", MOST_COMPARED)} onClick=${() => setComparing(true)}>${t("compare")}</button>
      <button class="button quiet" disabled=${packing !== null} onClick=${save}>${t("download")}</button>
      ${
        packing !== null &&
        html`<progress class="thin" max="1" value=${packing} aria-label=${t("download")}></progress>`
      }
      ${
        shelf
          ? html`<button class="button quiet" onClick=${takeOut}>${t("takeOut")}</button>`
          : html`<button class="button quiet" onClick=${() => setFiling(true)}>${t("putInFolder")}</button>`
      }
      ${hands && html`<button class="button quiet danger" onClick=${() => setDropping(true)}>${t("delete")}</button>`}
      <button class="button quiet" onClick=${() => setMarked([])}>${t("clear")}</button></div>`
    }
    ${comparing && compared.length > 1 && html`<${Compare} items=${compared} close=${() => setComparing(false)} />`}
    ${
      dropping &&
      html`<${Ask} title=${many(chosen.length, "deleteOne", "deleteMany")} text=${t("deleteText")}
      action=${t("delete")} danger=${true} fields=${[]} close=${() => setDropping(false)}
      act=${async () => {
        for (const job of chosen) await hands?.drop(job);
      }} />`
    }
    ${
      filing &&
      html`<${Ask} title=${t("putInFolder")} text=${t("folderText")} action=${t("putThere")}
      close=${() => setFiling(false)}
      fields=${[
        ...(shelves.names.length ? [{ name: "old", label: t("folderOld"), options: shelves.names }] : []),
        { name: "fresh", label: t("folderNew"), placeholder: t("folderHint") },
      ]}
      act=${async ({ old, fresh }) => {
        const name = cleanName(fresh || old || "");
        if (!name || name === FAVOURITES) throw new Error(t("folderNeeded"));
        shelves.put(name, marked);
        setMarked([]);
      }} />`
    }
    ${
      large &&
      html`<${Lightbox} items=${items} at=${large} move=${setLarge} all=${all} hands=${hands} told=${news}
      balance=${Number(who.account.balance)} close=${() => setLarge("")} />`
    }`;
}
