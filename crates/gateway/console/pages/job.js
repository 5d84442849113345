// One job: what was asked, what came, for how much, how it was handed over, and what it came from and led to.
import { html, useEffect, useState } from "../lib.js";
import { t } from "../words.js";
import { bytes, clockOf, count, exactly, isFinal, state, time, took, why, words } from "../show.js";
import { get, post } from "../api.js";
import { follow } from "../events.js";
import { go, href } from "../route.js";
import { catalogue } from "../catalogue.js";
import { CopyAs } from "../parts/copy_as.js";
import { Copy } from "../parts/copy.js";
import { Media } from "../parts/media.js";
import { useHands } from "../parts/hands.js";
import { PieceDeeds } from "../parts/piece_deeds.js";
import { pieces } from "../parts/pieces.js";
import { Quarter, save } from "../parts/quarter.js";
import { asked, inputsOf } from "../parts/result.js";
import { CallbackTries } from "../parts/callback_tries.js";
import { Table, Time } from "../parts/table.js";
import { Tree } from "../parts/tree.js";

/** @param {{ job: Job, trail: Wire.Trail | null }} given */
function Timeline({ job, trail }) {
  const attempts = trail?.attempts || [];
  const vendor = attempts.find((one) => one.submittedAt);
  const failed = job.status === "FAILED";
  const steps = [
    [t("accepted"), job.createdAt],
    [t("leased"), job.startedAt],
    ...(vendor ? [[t("atVendor"), vendor.submittedAt]] : []),
    ...(failed
      ? [[t("failed"), job.finishedAt]]
      : [
          [t("stored"), job.finishedAt],
          [t("settled"), job.finishedAt],
        ]),
    ...(job.hookUrl ? [[t("delivered"), trail?.deliveredAt]] : []),
  ];
  const begin = time(job.createdAt);
  return html`<ol class="timeline">${steps.map(
    ([name, at]) => html`<li class=${at ? "past" : ""}><b>${name}</b>
    ${
      at
        ? html`<time title=${exactly(at)}>${clockOf(at)}</time>
      <span class="dim">${at === job.createdAt ? "" : `+ ${took(time(at).getTime() - begin.getTime())}`}</span>`
        : html`<span class="dim">–</span>`
    }</li>`,
  )}</ol>`;
}

/** @param {{ attempts: Wire.TrailAttempt[] }} given */
const Attempts = ({ attempts }) =>
  attempts.length === 0
    ? null
    : html`<section class="card"><h2>${t("attempts")}</h2>
  <${Table} caption=${t("attempts")} rows=${attempts} columns=${
    /** @type {Column<Wire.TrailAttempt>[]} */ ([
      { title: t("when"), show: (row) => html`<${Time} at=${row.beganAt} />` },
      {
        title: t("status"),
        show: (row) => html`${row.state}
    ${row.worker ? html` <span class="dim">${row.worker}</span>` : ""}
      ${row.why ? html`<span class="dim block break">${row.why}</span>` : ""}`,
      },
      {
        title: t("duration"),
        number: true,
        show: (row) => (row.endedAt ? took(time(row.endedAt).getTime() - time(row.beganAt).getTime()) : "–"),
      },
    ])
  } /></section>`;

/**
 * What the price was made of: units, what each costs, and what that was multiplied by.
 * @param {{ lines: Wire.PriceLine[] }} given
 */
const PriceLines = ({ lines }) =>
  lines.map(
    (line) => html`<dt class="break">${line.line}
  ${line.group ? html` <span class="tag">${line.group}</span>` : ""}</dt>
    <dd>${[line.count, line.amount, ...(Number(line.factor) === 1 ? [] : [line.factor])].map(count).join(" × ")}</dd>`,
  );

/** So many pieces of a job are shown. */
const MOST_PIECES = 8;

/**
 * A piece of the result with what it is and what can be done with it.
 * @param {{ piece: Piece, all: All | null, hands: Hands | null, balance: number | null }} given
 */
function PieceView({ piece, all, hands, balance }) {
  const { job, file, quarter } = piece;
  const picture = quarter
    ? html`<${Quarter} file=${file} quarter=${quarter} alt=${words(job)} />`
    : html`<${Media} file=${file} alt=${words(job)} controls=${true} waits=${true} />`;
  const half = quarter ? 2 : 1;
  return html`<figure class="made piece">${picture}
    <figcaption class="below"><span class="dim">${Math.floor(file.width / half)} × ${Math.floor(file.height / half)}
      ${quarter ? "" : ` · ${bytes(file.bytes)}`}</span></figcaption>
    ${
      all && hands
        ? html`<${PieceDeeds} all=${all} piece=${piece} hands=${hands} balance=${balance} />`
        : html`<div class="row deeds"><button type="button" class="button quiet" onClick=${() => save(piece)}>
          ${t("download")}</button></div>`
    }</figure>`;
}

/** @param {{ who: Who, route: Route }} given */
export function JobPage({ who, route }) {
  const id = route.rest[0];
  const [job, setJob] = useState(/** @type {Job | null} */ (null));
  const [trail, setTrail] = useState(/** @type {Wire.Trail | null} */ (null));
  const [all, setAll] = useState(/** @type {All | null} */ (null));
  const [copying, setCopying] = useState(false);
  const [problem, setProblem] = useState("");
  const readTrail = () => {
    const own = `/jobs/v1/${encodeURIComponent(id)}/trail`;
    const asOperator = () => get(`/admin/v1/jobs/${encodeURIComponent(id)}/trail`);
    return (who.operator ? asOperator().catch(() => get(own)) : get(own)).then(
      ({ data }) => setTrail(data),
      () => {},
    );
  };
  useEffect(() => {
    setJob(null);
    setTrail(null);
    setProblem("");
    let stop = () => {};
    let gone = false;
    const path = `/jobs/v1/${encodeURIComponent(id)}`;
    const read = who.account ? get(path) : Promise.reject(new Error("no account"));
    read
      .then(({ data }) => {
        if (gone) return;
        setJob(data);
        stop = follow(id, (news) => setJob((old) => ({ ...old, ...news })));
      })
      .catch((error) =>
        who.operator
          ? get(`/admin/v1/jobs?q=${encodeURIComponent(id)}`).then(({ data }) => {
              const found = data.find((one) => one.jobId === id);
              if (found) setJob(found);
              else setProblem(t("noJob"));
            })
          : Promise.reject(error),
      )
      .catch((error) => setProblem(error.message));
    return () => {
      gone = true;
      stop();
    };
  }, [id]);
  useEffect(() => {
    if (job) readTrail();
  }, [id, job?.status]);
  // A callback is tried after the job has ended; it is looked at until it was taken or given up.
  useEffect(() => {
    const owed =
      job && isFinal(job) && job.hookUrl && (!trail?.callback || ["due", "sending"].includes(trail.callback.status));
    if (!owed) return undefined;
    const timer = setTimeout(readTrail, 1500);
    return () => clearTimeout(timer);
  }, [job?.status, trail]);
  useEffect(() => {
    catalogue().then(setAll, () => {});
  }, []);
  useEffect(() => {
    if (job) document.title = `${words(job).slice(0, 80)} · Atelier`;
  }, [job?.jobId]);
  const { told, hands } = useHands(who.looking ? null : all, who.account?.email || "", {
    removed: () => go("library"),
  });
  if (problem)
    return html`<div class="empty"><p class="empty-title">${t("noJob")}</p>
    <p class="dim">${problem}</p></div>`;
  if (!job) return html`<div class="card waiting" aria-busy="true"></div>`;
  const own = Boolean(who.account) && /** @type {Wire.ServedJob} */ (job).accountId === undefined;
  const made = pieces(job).slice(0, MOST_PIECES);
  const several = made.length > 1;
  const cancel = () =>
    post(own ? `/jobs/v1/${encodeURIComponent(id)}/cancel` : `/admin/v1/jobs/${encodeURIComponent(id)}/cancel`).catch(
      (error) => setProblem(error.message),
    );
  const source = all?.operations.find((one) => one.name === job.operation);
  const balance = who.account ? Number(who.account.balance) : null;
  return html`
    <header class="head"><div><h1 class="job-title" dir="auto">${words(job)}</h1>
      <p class="dim"><span class=${job.status === "FAILED" ? "bad" : ""}>
        ${state(job)}</span> · ${job.operation} · ${
          job.model ? html`<span title=${t("modelRevision", job.modelRevision)}>${job.model}</span> · ` : ""
        }
            <${Time} at=${job.createdAt} /></p></div>
      ${!isFinal(job) && html`<button class="button quiet" onClick=${cancel}>${t("cancel")}</button>`}
      ${
        all &&
        own &&
        html`<button class="button quiet" onClick=${() => setCopying(true)}>${t("copyAs")}</button>
        ${
          hands &&
          source &&
          html`<button class="button quiet" onClick=${() => hands.prepare(source, inputsOf(all, job))}>
          ${t("makeLike")}</button>`
        }`
      }</header>
    <div class="job-page">
      <div>
        ${
          !isFinal(job) &&
          html`<section class="card"><div class="bar">
            <progress max="100" value=${job.progress} aria-label=${words(job)}></progress></div></section>`
        }
        ${
          job.status === "FAILED" &&
          html`<section class="card"><p class="failed">${why(job.message)} ${t("cameBack")}</p></section>`
        }
        ${
          told &&
          html`<p class=${`told ${told.bad ? "bad" : "ok"}`} role="status">${told.text}
          ${told.job ? html` <a href=${href(`job/${told.job}`)}>${t("details")}</a>` : ""}</p>`
        }
        ${
          job.files.length > 0 &&
          html`<section class=${`card${several ? " several" : ""}`}>${made.map(
            (piece) => html`
          <${PieceView} key=${piece.key} piece=${piece} all=${all} hands=${own ? hands : null} balance=${balance} />`,
          )}
            </section>`
        }
        <section class="card"><h2>${t("request")}</h2>
          <pre tabindex="0"><code>${JSON.stringify(job.request, null, 2)}</code></pre></section>
        ${
          job.result &&
          html`<details class="card"><summary>${t("answer")}</summary>
            <pre tabindex="0"><code>${JSON.stringify(job.result, null, 2)}</code></pre></details>`
        }
      </div>
      <aside>
        <section class="card"><h2>${t("timeline")}</h2><${Timeline} job=${job} trail=${trail} /></section>
        <section class="card"><h2>${t("money")}</h2>
          <dl class="facts"><${PriceLines} lines=${job.price || []} /><dt>${t("Held")}</dt><dd>${count(job.held)}</dd>
            <dt>${t("paid")}</dt><dd>${count(job.quota)}</dd>
              ${job.status === "FAILED" && html`<dt>${t("returned")}</dt><dd>${t("allOfIt")}</dd>`}</dl></section>
        ${
          trail?.callback &&
          html`<section class="card"><h2>${t("callbacks")}</h2>
            <${CallbackTries} callback=${trail.callback} again=${readTrail} own=${own} /></section>`
        }
        <${Attempts} attempts=${trail?.attempts || []} />
        ${own && html`<${Tree} job=${job} />`}
        <section class="card"><h2>${t("identifier")}</h2><p class="break code">${job.jobId}</p>
          <div class="row"><${Copy} text=${job.jobId} /></div></section>
      </aside>
    </div>
    ${
      copying &&
      all &&
      html`<${CopyAs} name=${job.operation}
        path=${all.operations.find((one) => one.name === job.operation)?.path || "/jobs"} request=${asked(all, job)}
          close=${() => setCopying(false)} />`
    }`;
}
