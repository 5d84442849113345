// Where a job comes from and what came of it: the whole family from its first ancestor down, as a tree.
import { html, useEffect, useState } from "../lib.js";
import { many, t } from "../words.js";
import { deed, state, thumb, when, words } from "../show.js";
import { get } from "../api.js";
import { href } from "../route.js";
import { shown } from "./media.js";

/** So many generations are followed upwards. */
const MOST_UP = 12;
/** So many jobs of a family are asked for what came of them. */
const MOST_ASKED = 40;
const MOST_CHILDREN = 50;

/**
 * The job of an identifier, if it is still there: one may have been deleted, and a list says so without an error.
 * @param {string} id
 */
const jobAt = async (id) => {
  const { data } = await get(`/jobs/v1?limit=1&q=${encodeURIComponent(id)}`);
  return data.find((job) => job.jobId === id);
};

/** From the first ancestor that still is there to the job itself. @param {Job} job */
async function lineTo(job) {
  const line = [job];
  while (line[0].parentJobId && line.length <= MOST_UP) {
    const parent = await jobAt(line[0].parentJobId).catch(() => null);
    if (!parent) break;
    line.unshift(parent);
  }
  return line;
}

/**
 * The children of each job of a family by its identifier, generation by generation, the line of the job first.
 * @param {Job[]} line @param {() => boolean} gone
 */
async function childrenBelow(line, gone) {
  const children = new Map();
  let next = line;
  for (let asked = 0; next.length && asked < MOST_ASKED && !gone(); ) {
    const now = next.slice(0, MOST_ASKED - asked);
    asked += now.length;
    const answers = await Promise.all(
      now.map((one) => get(`/jobs/v1?limit=${MOST_CHILDREN}&parent=${encodeURIComponent(one.jobId)}`)),
    );
    // The eldest first, as time goes downwards.
    for (const [place, { data }] of answers.entries()) children.set(now[place].jobId, data.reverse());
    const known = new Set(children.keys());
    next = answers.flatMap(({ data }) => data).filter((one) => !known.has(one.jobId));
  }
  return children;
}

/** @param {Job} one */
const nameOf = (one) =>
  one.request?.action ? words({ ...one, request: { action: one.request.action } }) : deed(one.operation);

/** @param {{ job: Job, here: string }} given */
const Leaf = ({ job, here }) => html`<a class=${`leaf${here ? " here" : ""}`}
    aria-current=${here ? "true" : undefined} href=${href(`job/${job.jobId}`)}>
    ${
      shown(job)[0]
        ? html`<img src=${thumb(shown(job)[0])} alt="" width="36" height="36" />`
        : html`<span class="leaf-none" aria-hidden="true"></span>`
    }
    <span><span class="words">${nameOf(job)}</span>
      <small class="dim">${state(job)} · ${when(job.createdAt)}</small></span></a>`;

/** @param {{ job: Job, children: Map<string, Job[]>, here: string }} given */
const Branch = ({ job, children, here }) => {
  const below = children.get(job.jobId) || [];
  return html`<li><${Leaf} job=${job} here=${job.jobId === here} />
    ${
      below.length > 0 &&
      html`<ul class="tree">${below.map(
        (one) => html`<${Branch} key=${one.jobId} job=${one} children=${children} here=${here} />`,
      )}</ul>`
    }</li>`;
};

/** @param {{ job: Job }} given */
export function Tree({ job }) {
  const [family, setFamily] = useState(/** @type {{ root: Job, children: Map<string, Job[]> } | null} */ (null));
  useEffect(() => {
    let stale = false;
    lineTo(job)
      .then(async (line) => ({ root: line[0], children: await childrenBelow(line, () => stale) }))
      .then(
        (found) => {
          if (!stale) setFamily(found);
        },
        () => {},
      );
    return () => {
      stale = true;
    };
  }, [job.jobId, job.status]);
  const size = family ? 1 + [...family.children.values()].reduce((sum, list) => sum + list.length, 0) : 0;
  if (!family || size < 2) return null;
  return html`<section class="card"><h2>${t("tree")}</h2>
    <p class="dim small">${many(size, "treeOne", "treeMany")}</p>
    <ul class="tree"><${Branch} job=${family.root} children=${family.children} here=${job.jobId} /></ul></section>`;
}
