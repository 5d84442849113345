// A job as a card: progress while it runs, then its pictures with what can be done with them, or why there are none.
import { html, useEffect, useState } from "../lib.js";
import { t } from "../words.js";
import { clockOf, count, exactly, isFinal, isVideo, time, took, when, why, words } from "../show.js";
import { post } from "../api.js";
import { href } from "../route.js";
import { sorted } from "./follow_ups.js";
import { CopyAs } from "./copy_as.js";
import { MaskPainter } from "./mask.js";

/** Seconds since the job was accepted, ticking. */
function Running({ job }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((now - time(job.createdAt)) / 1000));
  const state = job.startedAt ? t("running") : t("waiting");
  return html`<span class="dim">${state} · ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}</span>`;
}

const Progress = ({ job, cancel }) => html`
  <div class="bar" role="progressbar" aria-valuemin="0" aria-valuemax="100" aria-valuenow=${job.progress} aria-label=${words(job)}>
    <progress max="100" value=${job.progress}></progress></div>
  <p class="steps"><span>${t("accepted")} <i class="dim">${clockOf(job.createdAt)}</i></span>
    <span class=${job.startedAt ? "" : "dim"}>${t("started")} <i class="dim">${clockOf(job.startedAt)}</i></span>
    <span class="dim">${t("stored")}</span><span class="dim">${t("settled")}</span>
    <span class="space"></span><button class="plain accent" onClick=${cancel}>${t("cancel")}</button></p>`;

export const Media = ({ file, alt, controls = false }) => (isVideo(file)
  ? html`<video src=${file.url} width=${file.width} height=${file.height} muted loop playsinline preload="metadata" controls=${controls} aria-label=${alt}
      onPointerEnter=${(event) => event.target.play().catch(() => {})} onPointerLeave=${(event) => !controls && event.target.pause()}></video>`
  : html`<img src=${file.url} width=${file.width} height=${file.height} alt=${alt} loading="lazy" decoding="async" />`);

/** The files to show: the quarters of a grid where they are there, otherwise the results themselves. */
export function shown(job) {
  const quarters = job.result?.images || job.result?.data?.images;
  if (Array.isArray(quarters) && quarters.length > 1) {
    const small = job.files.filter((file) => quarters.includes(file.url));
    if (small.length === quarters.length) return small;
  }
  return job.files.filter((file) => !/\.svg$/.test(file.url) || job.files.length === 1).slice(0, 6);
}

function Picture({ job, file, actions, edges, act, use, open }) {
  return html`<figure class="made">
    <button class="plain picture" onClick=${open} aria-label=${words(job)}><${Media} file=${file} alt=${words(job)} /></button>
    ${edges.map((edge) => html`<button class=${`edge ${edge.name}`} title=${edge.name.replace("_", " ")} aria-label=${edge.name.replace("_", " ")} onClick=${() => act(edge.name)}>${edge.text}</button>`)}
    <figcaption>
      ${actions.map((action) => html`<button class="on-picture" onClick=${() => act(action.name)}>${action.text}</button>`)}
      ${use && !isVideo(file) && html`<button class="on-picture" onClick=${() => use(file)}>${t("useInput")}</button>`}
    </figcaption>
  </figure>`;
}

function Done({ job, follow, use, open }) {
  const [copying, setCopying] = useState(false);
  const [painting, setPainting] = useState(false);
  const [change, setChange] = useState("");
  const { quarters, edges, whole } = sorted(job);
  const files = shown(job);
  const act = (action) => follow("artgen.action", { jobId: job.jobId, action, getUImages: /^(variation|reroll)/.test(action) });
  const single = files.length === 1;
  const prompts = job.result?.data?.prompts || job.result?.prompts;
  const canRepaint = single && !isVideo(files[0]) && job.operation.startsWith("artgen.") && whole.length > 0;
  return html`
    ${files.length > 0 && html`<div class=${`made-row n${Math.min(files.length, 4)}`}>
      ${files.map((file, place) => html`<${Picture} key=${file.url} job=${job} file=${file} act=${act} use=${use} open=${() => open(job, place)}
        actions=${files.length === 4 ? quarters[place] : []} edges=${single ? edges : []} />`)}</div>`}
    ${Array.isArray(prompts) && html`<ol class="prompts">${prompts.map((text) => html`<li>${text}</li>`)}</ol>`}
    <div class="row">
      ${whole.map((action) => html`<button class="button quiet" onClick=${() => act(action.name)}>${action.text}</button>`)}
      ${canRepaint && html`<button class="button quiet" onClick=${() => setPainting(true)}>${t("repaint")}</button>`}
      <span class="space"></span>
      <button class="button quiet" onClick=${() => setCopying(true)}>${t("copyAs")}</button>
      ${files[0] && html`<a class="button quiet" href=${files[0].url} download=${`${job.jobId}`}>${t("download")}</a>`}
    </div>
    ${change && html`<form class="row" onSubmit=${(event) => { event.preventDefault(); follow("artgen.inpaint", { jobId: job.jobId, mask: change.split(",")[1], prompt: event.target.elements.words.value }); setChange(""); }}>
      <input name="words" required maxlength="2000" placeholder="What should be there instead?" aria-label="What should be there instead?" />
      <button class="button">${t("makeIt")}</button></form>`}
    ${copying && html`<${CopyAs} path=${job.path || "/jobs"} request=${job.request} close=${() => setCopying(false)} />`}
    ${painting && html`<${MaskPainter} url=${files[0].url} close=${() => setPainting(false)} done=${(mask) => { setPainting(false); setChange(mask); }} />`}`;
}

/** One job. `follow` submits a follow-up, `use` puts a picture into the form, `open` shows it large. */
export function Result({ job, path, follow, use, open, again }) {
  const [problem, setProblem] = useState("");
  const cancel = () => post(`/jobs/v1/${encodeURIComponent(job.jobId)}/cancel`).catch((error) => setProblem(error.message));
  const ms = job.finishedAt && time(job.finishedAt) - time(job.createdAt);
  return html`<article class="card job">
    <header><a class="words" href=${href(`job/${job.jobId}`)} title=${words(job)}>${words(job)}</a>
      ${!isFinal(job) && html`<${Running} job=${job} />`}
      ${job.status === "SUCCESS" && html`<span class="dim" title=${exactly(job.finishedAt)}>${count(job.quota)} ${t("quota")} · ${took(ms)} · ${when(job.finishedAt)}</span>`}
      ${job.status === "FAILED" && html`<span class="bad">${t("failed")} · ${count(job.quota)} ${t("quota")}</span>`}
    </header>
    ${!isFinal(job) && html`<${Progress} job=${job} cancel=${cancel} />`}
    ${job.status === "SUCCESS" && html`<${Done} job=${{ ...job, path }} follow=${follow} use=${use} open=${open} />`}
    ${job.status === "FAILED" && html`<p class="failed">${why(job.message)}. ${t("cameBack")}</p>
      ${again && html`<div class="row"><button class="button quiet" onClick=${() => again(job)}>${t("retry")}</button></div>`}`}
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
  </article>`;
}
