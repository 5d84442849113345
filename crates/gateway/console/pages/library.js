// Library: everything the account made, as a wall by day. Filters live in the address.
import { html, useEffect, useMemo, useRef, useState } from "../lib.js";
import { t } from "../words.js";
import { count, day, isDrawing, isFinal, isVideo, state, words } from "../show.js";
import { get } from "../api.js";
import { onJobs } from "../events.js";
import { go, href } from "../route.js";
import { Compare } from "../parts/compare.js";
import { Media, shown } from "../parts/media.js";
import { Lightbox } from "../parts/lightbox.js";
import { Wall } from "../parts/wall.js";
import { START, asked as where, onward, totalOf } from "../parts/onward.js";

const PAGE = 60;
const WEEK_MS = 7 * 86_400_000;
/** What a filter asks for; its name is in the address. */
const KINDS = {
  all: () => "", pictures: () => "&makes=picture&status=success", videos: () => "&makes=video&status=success",
  running: () => "&unfinished=true", failed: () => "&status=failed",
  week: () => `&since=${new Date(Date.now() - WEEK_MS).toISOString().slice(0, 10)}`,
};

function Thumb({ job, open, marked, mark }) {
  const file = shown(job)[0];
  if (!file) {
    return html`<a class=${`thumb text ${job.status === "FAILED" ? "bad" : ""}`} href=${href(`job/${job.jobId}`)}>
      <span>${words(job)}</span><small>${isFinal(job) ? state(job) : `${state(job)} · ${job.progress} %`}</small></a>`;
  }
  const several = shown(job).length;
  return html`<div class=${`thumb-frame${marked ? " marked" : ""}`}>
    <button class="thumb" data-job=${job.jobId} onClick=${open} title=${words(job)} aria-label=${words(job)}><${Media} file=${file} alt="" small=${true} /></button>
    ${(isVideo(file) || several > 1) && html`<small class="length" aria-hidden="true">${isVideo(file) ? "▶" : several}</small>`}
    ${!isVideo(file) && !isDrawing(file) && html`<label class="mark" title=${t("mark")}><input type="checkbox" checked=${marked} aria-label=${`${t("mark")}: ${words(job)}`} onChange=${mark} /></label>`}
  </div>`;
}

/** The jobs under the headings of their days. */
function byDay(jobs) {
  const days = [];
  for (const job of jobs) {
    const heading = day(job.createdAt);
    if (days.at(-1)?.heading !== heading) days.push({ heading, jobs: [] });
    days.at(-1).jobs.push(job);
  }
  return days;
}

/** Arrows and j, k go from picture to picture; x marks one. */
function useWallKeys(mark) {
  useEffect(() => {
    const press = (event) => {
      if (event.target.closest?.("input:not([type=checkbox]), textarea, select, dialog") || event.metaKey || event.ctrlKey || event.altKey) return;
      const all = [...document.querySelectorAll(".wall .thumb")];
      const at = all.indexOf(document.activeElement?.closest(".thumb"));
      const columns = all.length ? all.filter((one) => one.getBoundingClientRect().top === all[0].getBoundingClientRect().top).length : 1;
      const by = { ArrowRight: 1, j: 1, ArrowLeft: -1, k: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
      if (event.key === "x" && at >= 0) { const id = all[at].getAttribute("data-job"); if (id) mark(id); }
      if (by === undefined || !all.length || (at < 0 && event.key.startsWith("Arrow"))) return;
      event.preventDefault();
      const next = /** @type {HTMLElement} */ (all[Math.min(all.length - 1, Math.max(0, at < 0 ? 0 : at + by))]);
      next.focus();
      next.scrollIntoView({ block: "nearest" });
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}

export function Library({ route }) {
  const kind = KINDS[route.query.show] ? route.query.show : "all";
  const text = route.query.q || "";
  const [jobs, setJobs] = useState(null);
  const [total, setTotal] = useState(0);
  const [problem, setProblem] = useState("");
  const [large, setLarge] = useState(null);
  const [marked, setMarked] = useState([]);
  const [comparing, setComparing] = useState(false);
  const end = useRef(null);
  const asked = useRef(0);
  const [next, setNext] = useState(null);
  const read = (way, keep) => {
    const mine = (asked.current += 1);
    return get(`/jobs/v1?limit=${PAGE}${where(way)}${KINDS[kind]()}${text.trim() ? `&q=${encodeURIComponent(text.trim())}` : ""}`).then((answer) => {
      if (mine !== asked.current) return;
      setNext(onward(answer, way, PAGE, Boolean(text.trim())));
      setJobs(keep ? (old) => [...(old || []), ...answer.data.filter((job) => !known.current.has(job.jobId))] : answer.data);
      setTotal(totalOf(answer, way));
      setProblem("");
    }, (error) => { if (mine === asked.current) setProblem(error.message); });
  };
  useEffect(() => {
    const timer = setTimeout(() => read(START, false), text ? 220 : 0);
    return () => clearTimeout(timer);
  }, [kind, text]);
  // What runs changes in its place as the service tells; what is new comes first where nothing is filtered out.
  const known = useRef(new Set());
  const { days, items, open } = useMemo(() => {
    known.current = new Set((jobs || []).map((job) => job.jobId));
    return { days: byDay(jobs || []), items: (jobs || []).flatMap((job) => shown(job).map((file) => ({ job, file }))), open: (jobs || []).filter((job) => !isFinal(job)) };
  }, [jobs]);
  useEffect(() => onJobs((news) => {
    if (known.current.has(news.jobId)) { setJobs((old) => (old || []).map((job) => (job.jobId === news.jobId ? { ...job, ...news } : job))); return; }
    if (kind !== "all" || text || !known.current.size) return;
    known.current.add(news.jobId);
    get(`/jobs/v1/${encodeURIComponent(news.jobId)}`).then(({ data }) => {
      setJobs((old) => ((old || []).some((job) => job.jobId === data.jobId) ? old : [data, ...(old || [])]));
      setTotal((now) => now + 1);
    }, () => {});
  }, () => { if (known.current.size <= PAGE) read(START, false); }), [kind, text]);
  const more = jobs && next;
  useEffect(() => {
    if (!more || !end.current) return undefined;
    const watcher = new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) { watcher.disconnect(); read(next, true); } }, { rootMargin: "900px" });
    watcher.observe(end.current);
    return () => watcher.disconnect();
  }, [more, jobs]);
  const toggle = (id) => setMarked((old) => (old.includes(id) ? old.filter((one) => one !== id) : [...old, id].slice(-8)));
  useWallKeys(toggle);
  const chosen = marked.map((id) => (jobs || []).find((job) => job.jobId === id)).filter(Boolean).map((job) => ({ job, file: shown(job)[0] }));
  const address = (show, q = text) => ({ show: show === "all" ? "" : show, q });
  return html`
    <header class="head"><div><h1>${t("library")}</h1><p class="dim">${jobs ? `${count(total)}${next?.after ? "+" : ""} ${t(total === 1 ? "result" : "results")}${open.length ? ` · ${open.length} ${t("running")}` : ""}` : " "}</p></div>
      <input type="search" class="filter" placeholder=${t("searchWords")} aria-label=${t("searchWords")} value=${text} onInput=${(event) => go("library", address(kind, event.target.value), { replace: true })} />
      <nav class="chips" aria-label=${t("filters")}>${Object.keys(KINDS).map((one) => html`<a class=${`chip${one === kind ? " active" : ""}`} aria-current=${one === kind ? "true" : undefined} href=${href("library", address(one))}>${t(`show.${one}`)}</a>`)}</nav>
    </header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${!jobs && !problem && html`<div class="wall" aria-busy="true">${Array.from({ length: 12 }, () => html`<span class="thumb coming"></span>`)}</div>`}
    ${jobs && !jobs.length && !next && (kind !== "all" || text
      ? html`<p class="empty">${t("nothingFound")}</p>`
      : html`<div class="empty"><p class="empty-title">${t("emptyLibrary")}</p><p><a class="button" href=${href("create")}>${t("makeFirst")}</a></p></div>`)}
    ${days.map((one) => html`<section key=${one.heading} aria-label=${one.heading}><h2 class="day">${one.heading}</h2>
      <${Wall} items=${one.jobs} tile=${(job) => html`<${Thumb} key=${job.jobId} job=${job} marked=${marked.includes(job.jobId)} mark=${() => toggle(job.jobId)} open=${() => setLarge(items.findIndex((item) => item.job.jobId === job.jobId))} />`} /></section>`)}
    ${more && html`<div ref=${end} class="end"></div>`}
    ${chosen.length > 0 && html`<div class="marked-bar" role="status"><span>${t("markedCount", chosen.length)}</span>
      <button class="button" disabled=${chosen.length < 2} onClick=${() => setComparing(true)}>${t("compare")}</button><button class="button quiet" onClick=${() => setMarked([])}>${t("clear")}</button></div>`}
    ${comparing && chosen.length > 1 && html`<${Compare} items=${chosen} close=${() => setComparing(false)} />`}
    ${large !== null && items[large] && html`<${Lightbox} items=${items} at=${large} move=${setLarge} close=${() => setLarge(null)} />`}`;
}
