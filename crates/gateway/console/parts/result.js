// A job as a card: progress while it runs, then its pictures with what can be done with them, or why there are none.
import { html, useEffect, useRef, useState } from "../lib.js";
import { t } from "../words.js";
import { clockOf, exactly, isFinal, isVideo, quotaOf, time, took, when, why, words } from "../show.js";
import { post } from "../api.js";
import { href } from "../route.js";
import { DeedButton } from "./deed_button.js";
import { deedsOf } from "./deeds.js";
import { later } from "./later.js";
import { Media } from "./media.js";
import { isStill, pieces } from "./pieces.js";
import { save } from "./quarter.js";
import { useDeedPrices } from "./quote.js";

const Compare = later(() => import("./compare.js").then((part) => part.Compare));
const CopyAs = later(() => import("./copy_as.js").then((part) => part.CopyAs));
const Repaint = later(() => import("./repaint.js").then((part) => part.Repaint));

/** Seconds since the job was accepted, ticking. @param {{ job: Job }} given */
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

/** @param {{ job: Job, cancel: () => void }} given */
const Progress = ({ job, cancel }) => html`
  <div class="bar"><progress max="100" value=${job.progress} aria-label=${words(job)}></progress></div>
  <p class="steps"><span>${t("accepted")} <i class="dim">${clockOf(job.createdAt)}</i></span>
    <span class=${job.startedAt ? "" : "dim"}>${t("started")} <i class="dim">${clockOf(job.startedAt)}</i></span>
    <span class="dim">${t("stored")}</span><span class="dim">${t("settled")}</span>
    <span class="space"></span><span class="dim">${t("holds", quotaOf(job.held))}</span>
    <button class="plain accent" onClick=${cancel}>${t("cancel")}</button></p>`;

/** How wide a picture is shown, by how many there are beside each other. */
const WIDTHS = [384, 660, 330, 220, 160];

/** Whether an element has come near the window yet. */
function useSeen() {
  /** @type {Ref<HTMLElement>} */
  const element = useRef(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const watcher = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) {
        watcher.disconnect();
        setSeen(true);
      }
    });
    watcher.observe(element.current);
    return () => watcher.disconnect();
  }, []);
  return { element, seen };
}

/**
 * @param {{ piece: Piece, several: number, found: Deeds, prices: Record<string, number>, balance: number | null,
 * open: () => void }} given
 */
function Picture({ piece, several, found, prices, balance, open }) {
  const { job, file, quarter } = piece;
  const size = WIDTHS[Math.min(several, 4)] * (quarter ? 2 : 1);
  const media = html`<${Media} file=${file} alt="" small=${true} size=${size} />`;
  const own = [...found.own, ...found.onward.filter((one) => isVideo(file) || one.name === "use")];
  const button = (
    /** @type {Deed} */ one,
    /** @type {string} */ kind,
    label = "",
  ) => html`<${DeedButton} key=${one.name} deed=${one} price=${prices[one.name]}
    balance=${balance} kind=${kind} label=${label} />`;
  const ratio = several === 1 ? { "--ratio": file.width / file.height } : {};
  return html`<figure class="made" style=${ratio}>
    <button class="plain picture" onClick=${open} aria-label=${t("enlarge", words(job))}>
      ${quarter ? html`<span class=${`quarter q${quarter}`}>${media}</span>` : media}
      ${isVideo(file) && html`<span class="play" aria-hidden="true">▶</span>`}</button>
    ${several === 1 && found.edges.map((one) => button(one, `edge ${one.name}`, one.text))}
    <figcaption>${own.map((one) => button(one, "on-picture"))}</figcaption>
  </figure>`;
}

/**
 * @param {{ all: All, job: Job, path: string, hands: Hands, balance: number | null,
 * open: (piece: Piece) => void }} given
 */
function Done({ all, job, path, hands, balance, open }) {
  const [copying, setCopying] = useState(false);
  const [painting, setPainting] = useState(/** @type {Piece | null} */ (null));
  const [comparing, setComparing] = useState(false);
  const { element, seen } = useSeen();
  const all4 = pieces(job);
  const own = { ...hands, repaint: setPainting };
  const found = all4.map((piece) => deedsOf(all, piece, own));
  const stills = all4.filter(isStill);
  const single = all4.length === 1 ? found[0] : null;
  const below = single ? single.onward.filter((one) => one.name !== "use" && !isVideo(all4[0].file)) : [];
  const whole = found[0]?.whole || [];
  const prices = useDeedPrices(
    [...found.flatMap((one) => [...one.own, ...one.onward]), ...(single?.edges || []), ...whole],
    seen,
  );
  const prompts = job.result?.data?.prompts || job.result?.prompts;
  const button = (/** @type {Deed} */ one) => html`<${DeedButton} key=${one.name} deed=${one} price=${prices[one.name]}
    balance=${balance} />`;
  return html`
    <div ref=${element} class=${`made-row n${Math.min(all4.length, 4)}`}>
      ${all4.map(
        (piece, place) => html`<${Picture} key=${piece.key} piece=${piece} several=${all4.length} found=${found[place]}
        prices=${prices} balance=${balance} open=${() => open(piece)} />`,
      )}</div>
    ${
      Array.isArray(prompts) &&
      html`<ol class="prompts">${prompts.map(
        (text) => html`<li>
      <button class="plain" dir="auto" title=${t("useWords")} onClick=${() => hands.say?.(text)}>${text}</button></li>`,
      )}
        </ol>`
    }
    <div class="row acts-row">
      ${whole.map(button)}${below.map(button)}
      ${
        stills.length > 1 &&
        html`<button class="button quiet" onClick=${() => setComparing(true)}>${t("compare")}</button>`
      }
      <span class="space"></span>
      <button class="button quiet" onClick=${() => setCopying(true)}>${t("copyAs")}</button>
      ${single && html`<button class="button quiet" onClick=${() => save(all4[0])}>${t("download")}</button>`}
    </div>
    ${
      copying &&
      html`<${CopyAs} name=${job.operation} path=${path} request=${asked(all, job)}
      close=${() => setCopying(false)} />`
    }
    ${comparing && html`<${Compare} items=${stills} close=${() => setComparing(false)} />`}
    ${
      painting &&
      html`<${Repaint} all=${all} piece=${painting} follow=${hands.follow} close=${() => setPainting(null)} />`
    }`;
}

/**
 * What was asked, without what nobody said: fields that the operation takes and that have a value.
 * @param {All} all @param {Job} job
 */
export function asked(all, job) {
  const fields = all.operations.find((one) => one.name === job.operation)?.fields || [];
  const kept = Object.entries(job.request).filter(
    ([name, value]) => value !== null && fields.some((field) => field.name === name),
  );
  return Object.fromEntries(kept.length ? kept : Object.entries(job.request));
}

/**
 * The same for the form: what came inside the request itself is only known by its name there, and has to be chosen
 * anew.
 * @param {All} all @param {Job} job
 */
export function inputsOf(all, job) {
  const named = (/** @type {Json} */ value) => typeof value === "string" && value.startsWith("inline:");
  const without = (/** @type {Json} */ value) => (Array.isArray(value) ? value.filter((one) => !named(one)) : value);
  const kept = Object.entries(asked(all, job)).filter(([, value]) => !named(value));
  return Object.fromEntries(kept.map(([name, value]) => [name, without(value)]));
}

/**
 * One job. `hands` are what the page does with it, `open` shows a piece of it large, `again` submits it anew.
 * @param {{ all: All, job: Job, path: string, hands: Hands, balance: number | null, open: (piece: Piece) => void,
 * again: ((job: Job) => void) | null }} given
 */
export function Result({ all, job, path, hands, balance, open, again }) {
  const [problem, setProblem] = useState("");
  const cancel = () =>
    post(`/jobs/v1/${encodeURIComponent(job.jobId)}/cancel`).catch((error) => setProblem(error.message));
  const ms = job.finishedAt && time(job.finishedAt).getTime() - time(job.createdAt).getTime();
  return html`<article class=${`card job${isFinal(job) ? "" : " at-work"}`}>
    <header><a class="words" dir="auto" href=${href(`job/${job.jobId}`)} title=${words(job)}>${words(job)}</a>
      ${!isFinal(job) && html`<${Running} job=${job} />`}
      ${
        job.status === "SUCCESS" &&
        html`<span class="dim" title=${exactly(job.finishedAt)}>
        ${quotaOf(job.quota)} · ${took(Number(ms))} · ${when(job.finishedAt)}</span>`
      }
      ${job.status === "FAILED" && html`<span class="bad">${t("failed")} · ${quotaOf(0)}</span>`}
    </header>
    ${!isFinal(job) && html`<${Progress} job=${job} cancel=${cancel} />`}
    ${
      job.status === "SUCCESS" &&
      html`<${Done} all=${all} job=${job} path=${path} hands=${hands} balance=${balance}
      open=${open} />`
    }
    ${
      job.status === "FAILED" &&
      html`<p class="failed">${why(job.message)} ${t("cameBack")}</p>
      ${
        again &&
        html`<div class="row"><button class="button quiet" onClick=${() => again(job)}>${t("retry")}</button></div>`
      }`
    }
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
  </article>`;
}
