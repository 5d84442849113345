// A job as a card: progress while it runs, then its pictures with what can be done with them, or why there are none.
import { html, useEffect, useState } from "../lib.js";
import { t } from "../words.js";
import { clockOf, deed, exactly, isDrawing, isFinal, isVideo, quotaOf, time, took, when, why, words } from "../show.js";
import { post } from "../api.js";
import { href } from "../route.js";
import { followers, jobField, placeField, promptOf } from "../catalogue.js";
import { sorted } from "./follow_ups.js";
import { later } from "./later.js";
import { Media, shown } from "./media.js";

const Compare = later(() => import("./compare.js").then((part) => part.Compare));
const CopyAs = later(() => import("./copy_as.js").then((part) => part.CopyAs));
const Repaint = later(() => import("./repaint.js").then((part) => part.Repaint));

/** Seconds since the job was accepted, ticking. */
function Running({ job }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((now - time(job.createdAt).getTime()) / 1000));
  const state = job.startedAt ? t("running") : t("waiting");
  return html`<span class="dim">${state} · ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}</span>`;
}

const Progress = ({ job, cancel }) => html`
  <div class="bar"><progress max="100" value=${job.progress} aria-label=${words(job)}></progress></div>
  <p class="steps"><span>${t("accepted")} <i class="dim">${clockOf(job.createdAt)}</i></span>
    <span class=${job.startedAt ? "" : "dim"}>${t("started")} <i class="dim">${clockOf(job.startedAt)}</i></span>
    <span class="dim">${t("stored")}</span><span class="dim">${t("settled")}</span>
    <span class="space"></span><span class="dim">${t("holds", quotaOf(job.held))}</span><button class="plain accent" onClick=${cancel}>${t("cancel")}</button></p>`;

/** How wide a picture is shown, by how many there are beside each other. */
const WIDTHS = [384, 384, 330, 220, 160];

function Picture({ job, file, quarter, size, actions, edges, act, use, open, carry }) {
  const media = html`<${Media} file=${file} alt="" small=${true} size=${size} />`;
  return html`<figure class="made">
    <button class="plain picture" onClick=${open} aria-label=${t("enlarge", words(job))}>${quarter ? html`<span class=${`quarter q${quarter}`}>${media}</span>` : media}</button>
    ${edges.map((edge) => html`<button class=${`edge ${edge.name}`} title=${t(`act.${edge.name}`)} aria-label=${t(`act.${edge.name}`)} onClick=${() => act(edge.name)}>${edge.text}</button>`)}
    <figcaption>
      ${actions.map((action) => html`<button class="on-picture" onClick=${() => act(action.name)}>${action.text}</button>`)}
      ${carry.map((one) => html`<button class="on-picture" onClick=${one.go}>${one.text}</button>`)}
      ${use && !isVideo(file) && !isDrawing(file) && html`<button class="on-picture" onClick=${() => use(file)}>${t("useInput")}</button>`}
    </figcaption>
  </figure>`;
}

/** What carries a job on, by the operations that say so: run at once when nothing more has to be said, else in the form. */
function carriers(all, job, place, { follow, prepare }) {
  const special = new Set(["action", "seed"]);
  return followers(all, job)
    .filter((one) => !special.has(one.name.split(".").pop()) && !one.fields.some((field) => field.widget === "mask"))
    .map((one) => {
      const request = { [jobField(one).name]: job.jobId };
      const which = placeField(one);
      if (which) request[which.name] = place;
      const prompt = promptOf(one);
      const open = one.fields.some((field) => field.required && field.default === undefined && request[field.name] === undefined);
      if (prompt) request[prompt.name] = words(job);
      return { text: deed(one.name), go: () => (open ? prepare(one, request) : follow(one.name, request)) };
    });
}

function Done({ all, job, path, follow, prepare, use, animate, open }) {
  const [copying, setCopying] = useState(false);
  const [painting, setPainting] = useState(false);
  const [comparing, setComparing] = useState(false);
  const { quarters, edges, whole } = sorted(job);
  const files = shown(job);
  const pictures = files.filter((file) => !isVideo(file) && !isDrawing(file));
  const action = followers(all, job).find((one) => one.fields.some((field) => field.name === "action"));
  const act = (name) => follow(action.name, { [jobField(action).name]: job.jobId, action: name, ...(/^(variation|reroll)/.test(name) ? { getUImages: true } : {}) });
  const single = files.length === 1;
  // Four pictures that came as one are shown beside each other, each with what can be done with it.
  const grid = single && pictures.length === 1 && quarters.every((one) => one.length > 0);
  const tiles = grid ? quarters.map((_, place) => ({ file: files[0], quarter: place + 1 })) : files.map((file) => ({ file, quarter: 0 }));
  const prompts = job.result?.data?.prompts || job.result?.prompts;
  return html`
    ${tiles.length > 0 && html`<div class=${`made-row n${Math.min(tiles.length, 4)}`}>
      ${tiles.map(({ file, quarter }, place) => html`<${Picture} key=${`${file.url}${quarter}`} job=${job} file=${file} quarter=${quarter} act=${act} use=${grid ? null : use} open=${() => open(job, grid ? 0 : place)}
        size=${WIDTHS[Math.min(tiles.length, 4)] * (grid ? 2 : 1)}
        carry=${isVideo(file) ? carriers(all, job, place, { follow, prepare }) : []}
        actions=${tiles.length === 4 ? quarters[place] : []} edges=${single ? edges : []} />`)}</div>`}
    ${Array.isArray(prompts) && html`<ol class="prompts">${prompts.map((text) => html`<li><button class="plain" title=${t("useWords")} onClick=${() => prepare(null, { words: text })}>${text}</button></li>`)}</ol>`}
    <div class="row acts-row">
      ${whole.map((one) => html`<button class="button quiet" onClick=${() => act(one.name)}>${one.text}</button>`)}
      ${pictures.length === 1 && !grid && html`<button class="button quiet" onClick=${() => setPainting(true)}>${t("repaint")}</button>`}
      ${pictures.length === 1 && !grid && animate && html`<button class="button quiet" onClick=${() => animate(pictures[0], job)}>${t("animate")}</button>`}
      ${pictures.length > 1 && html`<button class="button quiet" onClick=${() => setComparing(true)}>${t("compare")}</button>`}
      <span class="space"></span>
      <button class="button quiet" onClick=${() => setCopying(true)}>${t("copyAs")}</button>
      ${files[0] && html`<a class="button quiet" href=${files[0].url} download=${`${job.jobId}`}>${t("download")}</a>`}
    </div>
    ${copying && html`<${CopyAs} name=${job.operation} path=${path} request=${asked(all, job)} close=${() => setCopying(false)} />`}
    ${comparing && html`<${Compare} items=${pictures.map((file) => ({ job, file }))} close=${() => setComparing(false)} />`}
    ${painting && html`<${Repaint} all=${all} job=${job} file=${pictures[0]} follow=${follow} close=${() => setPainting(false)} />`}`;
}

/** What was asked, without what nobody said: fields that the operation takes and that have a value. */
export function asked(all, job) {
  const fields = all.operations.find((one) => one.name === job.operation)?.fields || [];
  const kept = Object.entries(job.request).filter(([name, value]) => value !== null && fields.some((field) => field.name === name));
  return Object.fromEntries(kept.length ? kept : Object.entries(job.request));
}

/** One job. `follow` submits a follow-up, `prepare` puts one into the form, `use` a picture, `open` shows it large. */
export function Result({ all, job, path, follow, prepare, use, animate, open, again }) {
  const [problem, setProblem] = useState("");
  const cancel = () => post(`/jobs/v1/${encodeURIComponent(job.jobId)}/cancel`).catch((error) => setProblem(error.message));
  const ms = job.finishedAt && time(job.finishedAt).getTime() - time(job.createdAt).getTime();
  return html`<article class=${`card job${isFinal(job) ? "" : " at-work"}`}>
    <header><a class="words" href=${href(`job/${job.jobId}`)} title=${words(job)}>${words(job)}</a>
      ${!isFinal(job) && html`<${Running} job=${job} />`}
      ${job.status === "SUCCESS" && html`<span class="dim" title=${exactly(job.finishedAt)}>${quotaOf(job.quota)} · ${took(ms)} · ${when(job.finishedAt)}</span>`}
      ${job.status === "FAILED" && html`<span class="bad">${t("failed")} · ${quotaOf(0)}</span>`}
    </header>
    ${!isFinal(job) && html`<${Progress} job=${job} cancel=${cancel} />`}
    ${job.status === "SUCCESS" && html`<${Done} all=${all} job=${job} path=${path} follow=${follow} prepare=${prepare} use=${use} animate=${animate} open=${open} />`}
    ${job.status === "FAILED" && html`<p class="failed">${why(job.message)} ${t("cameBack")}</p>
      ${again && html`<div class="row"><button class="button quiet" onClick=${() => again(job)}>${t("retry")}</button></div>`}`}
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
  </article>`;
}
