// One job: what was asked, what came, when, for how much, how it was handed over, and what it came from.
import { html, useEffect, useState } from "../lib.js";
import { t } from "../words.js";
import { bytes, clockOf, count, exactly, isFinal, time, took, when, why, words } from "../show.js";
import { follow, get, post } from "../api.js";
import { href } from "../route.js";
import { Media } from "../parts/result.js";
import { Table } from "../parts/table.js";

function Timeline({ job }) {
  const steps = [
    [t("accepted"), job.createdAt], [t("started"), job.startedAt],
    [job.status === "FAILED" ? t("failed") : t("settled"), job.finishedAt],
  ];
  const begin = time(job.createdAt);
  return html`<ol class="timeline">${steps.map(([name, at]) => html`<li class=${at ? "past" : ""}><b>${name}</b>
    ${at ? html`<time title=${exactly(at)}>${clockOf(at)}</time><span class="dim">${at === job.createdAt ? "" : `+ ${took(time(at) - begin)}`}</span>` : html`<span class="dim">–</span>`}</li>`)}</ol>`;
}

function Callbacks({ job }) {
  const [rows, setRows] = useState(null);
  const read = () => get("/account/v1/callbacks?limit=100").then(({ data }) => setRows(data.filter((one) => one.jobId === job.jobId)), () => setRows([]));
  useEffect(() => { if (job.hookUrl) read(); }, [job.jobId, job.status]);
  if (!job.hookUrl || !rows) return null;
  return html`<section class="card"><h2>${t("callbacks")}</h2><p class="dim break">${job.hookUrl}</p>
    <${Table} caption=${t("callbacks")} rows=${rows} columns=${[
      { title: t("status"), show: (row) => row.state || row.status },
      { title: t("tries"), number: true, show: (row) => row.tries ?? row.attempts },
      { title: "", show: (row) => html`<button class="button quiet" onClick=${() => post(`/account/v1/callbacks/${row.id}/redeliver`).then(read)}>${t("redeliver")}</button>` },
    ]} /></section>`;
}

export function JobPage({ route }) {
  const id = route.rest[0];
  const [job, setJob] = useState(null);
  const [family, setFamily] = useState([]);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    setJob(null);
    setProblem("");
    get(`/jobs/v1/${encodeURIComponent(id)}`).catch((error) => setProblem(error.message));
    return follow(id, setJob);
  }, [id]);
  useEffect(() => {
    let stale = false;
    (async () => {
      const line = [];
      for (let parent = job?.parentJobId; parent && line.length < 12; parent = line.at(-1).parentJobId) {
        const { data } = await get(`/jobs/v1/${encodeURIComponent(parent)}`);
        line.push(data);
      }
      if (!stale) setFamily(line);
    })().catch(() => {});
    return () => { stale = true; };
  }, [job?.parentJobId]);
  if (problem) return html`<p class="problem" role="alert">${problem}</p>`;
  if (!job) return html`<div class="card" aria-busy="true"></div>`;
  return html`
    <header class="head"><div><h1 class="job-title">${words(job)}</h1><p class="dim"><span class=${job.status === "FAILED" ? "bad" : ""}>${isFinal(job) ? (job.status === "FAILED" ? t("failed") : t("done")) : t("running")}</span> · ${job.operation} · <span title=${exactly(job.createdAt)}>${when(job.createdAt)}</span></p></div>
      ${!isFinal(job) && html`<button class="button quiet" onClick=${() => post(`/jobs/v1/${encodeURIComponent(job.jobId)}/cancel`)}>${t("cancel")}</button>`}</header>
    <div class="job-page">
      <div>
        ${job.status === "FAILED" && html`<section class="card"><p class="failed">${why(job.message)}</p></section>`}
        ${job.files.length > 0 && html`<section class="card"><div class=${`made-row n${Math.min(job.files.length, 2)}`}>${job.files.slice(0, 8).map((file) => html`<figure class="made"><${Media} file=${file} alt=${words(job)} controls=${true} />
          <figcaption class="below"><span class="dim">${file.width} × ${file.height} · ${bytes(file.bytes)}</span> <a href=${file.url} download=${job.jobId}>${t("download")}</a></figcaption></figure>`)}</div></section>`}
        <section class="card"><h2>${t("request")}</h2><pre tabindex="0"><code>${JSON.stringify(job.request, null, 2)}</code></pre></section>
        ${job.result && html`<details class="card"><summary>Answer</summary><pre tabindex="0"><code>${JSON.stringify(job.result, null, 2)}</code></pre></details>`}
      </div>
      <aside>
        <section class="card"><h2>${t("timeline")}</h2><${Timeline} job=${job} /></section>
        <section class="card"><h2>${t("money")}</h2><dl class="facts"><dt>${t("Held")}</dt><dd>${count(job.held)}</dd><dt>${t("Quota")}</dt><dd>${count(job.quota)}</dd></dl></section>
        <${Callbacks} job=${job} />
        ${family.length > 0 && html`<section class="card"><h2>${t("tree")}</h2><ol class="tree">${family.map((one) => html`<li><a href=${href(`job/${one.jobId}`)}>${words(one)}</a><span class="dim"> ${one.operation.split(".").pop()}</span></li>`)}</ol></section>`}
        <section class="card"><h2>Id</h2><p class="break code">${job.jobId}</p></section>
      </aside>
    </div>`;
}
