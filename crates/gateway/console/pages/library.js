// Library: everything the account made, as a wall by day. Filters live in the address.
import { html, useEffect, useRef, useState } from "../lib.js";
import { t } from "../words.js";
import { count, day, isFinal, isVideo, words } from "../show.js";
import { get } from "../api.js";
import { go, href } from "../route.js";
import { Media, shown } from "../parts/result.js";
import { Lightbox } from "../parts/lightbox.js";

const PAGE = 60;
const KINDS = ["all", "pictures", "videos", "running", "failed"];

const fits = (kind, job) => {
  const files = job.files;
  if (kind === "pictures") return files.some((file) => !isVideo(file));
  if (kind === "videos") return files.some(isVideo);
  return true;
};
const asked = (kind) => ({ failed: "&status=failed", pictures: "&status=success", videos: "&status=success" }[kind] || "");

function Thumb({ job, open }) {
  const file = shown(job)[0];
  if (!file) {
    return html`<a class=${`thumb text ${job.status === "FAILED" ? "bad" : ""}`} href=${href(`job/${job.jobId}`)}>
      <span>${words(job)}</span><small>${isFinal(job) ? (job.status === "FAILED" ? t("failed") : t("done")) : `${job.progress} %`}</small></a>`;
  }
  return html`<button class="thumb" onClick=${open} title=${words(job)} aria-label=${words(job)}><${Media} file=${file} alt="" />${isVideo(file) && html`<small class="length">▶</small>`}</button>`;
}

export function Library({ route }) {
  const kind = KINDS.includes(route.query.show) ? route.query.show : "all";
  const text = route.query.q || "";
  const [jobs, setJobs] = useState(null);
  const [total, setTotal] = useState(0);
  const [page, setPage] = useState(1);
  const [problem, setProblem] = useState("");
  const [large, setLarge] = useState(null);
  const end = useRef(null);
  const read = (number, keep) => get(`/jobs/v1?limit=${PAGE}&page=${number}${asked(kind)}`).then((answer) => {
    setJobs(keep ? (old) => [...(old || []), ...answer.data.filter((job) => !(old || []).some((one) => one.jobId === job.jobId))] : answer.data);
    setTotal(answer.total);
    setPage(number);
  }, (error) => setProblem(error.message));
  useEffect(() => { setJobs(null); setProblem(""); read(1, false); }, [kind]);
  const more = jobs && page * PAGE < total;
  useEffect(() => {
    if (!more || !end.current) return undefined;
    const watcher = new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) { watcher.disconnect(); read(page + 1, true); } }, { rootMargin: "600px" });
    watcher.observe(end.current);
    return () => watcher.disconnect();
  }, [more, page, kind]);
  const wanted = (jobs || []).filter((job) => fits(kind, job) && (kind !== "running" || !isFinal(job)) && (!text || `${words(job)} ${job.jobId}`.toLowerCase().includes(text.toLowerCase())));
  const days = [];
  for (const job of wanted) {
    const heading = day(job.createdAt);
    if (days.at(-1)?.heading !== heading) days.push({ heading, jobs: [] });
    days.at(-1).jobs.push(job);
  }
  const items = wanted.flatMap((job) => (shown(job)[0] ? [{ job, file: shown(job)[0] }] : []));
  const running = (jobs || []).filter((job) => !isFinal(job)).length;
  return html`
    <header class="head"><div><h1>${t("library")}</h1><p class="dim">${jobs ? `${count(total)} ${t("results")}${running ? ` · ${running} ${t("running")}` : ""}` : " "}</p></div>
      <input type="search" class="filter" placeholder="Search words" aria-label="Search words" value=${text} onInput=${(event) => go("library", { show: kind === "all" ? "" : kind, q: event.target.value }, { replace: true })} />
      <div class="chips">${KINDS.map((one) => html`<a class=${`chip${one === kind ? " active" : ""}`} aria-current=${one === kind ? "true" : undefined} href=${href("library", { show: one === "all" ? "" : one, q: text })}>${t({ running: "filterRunning", failed: "filterFailed" }[one] || one)}</a>`)}</div>
    </header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${jobs && !wanted.length && html`<p class="empty">${total ? t("nothingFound") : t("emptyLibrary")}</p>`}
    ${days.map((one) => html`<section key=${one.heading} aria-label=${one.heading}><h2 class="day">${one.heading}</h2>
      <div class="wall">${one.jobs.map((job) => html`<${Thumb} key=${job.jobId} job=${job} open=${() => setLarge(items.findIndex((item) => item.job.jobId === job.jobId))} />`)}</div></section>`)}
    ${more && html`<div ref=${end} class="end"></div>`}
    ${large !== null && items[large] && html`<${Lightbox} items=${items} at=${large} move=${setLarge} close=${() => setLarge(null)} />`}`;
}
