// The operator's first page: is everything well?
import { html, useEffect, useState } from "../../lib.js";
import { t } from "../../words.js";
import { count, took } from "../../show.js";
import { get } from "../../api.js";
import { href } from "../../route.js";
import { Table } from "../../parts/table.js";
import { Condition } from "./condition.js";

const EVERY_MS = 3000;

const Figure = ({ title, value, text }) => html`<div class="card figure"><p class="dim">${title}</p><p class="large">${value}</p><p class="dim">${text}</p></div>`;

export function Overview() {
  const [stats, setStats] = useState(null);
  const [nodes, setNodes] = useState([]);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let stopped = false;
    const look = async () => {
      try {
        const [first, second] = await Promise.all([get("/admin/v1/stats"), get("/admin/v1/nodes")]);
        if (stopped) return;
        setStats(first.data);
        setNodes(second.data);
        setProblem("");
      } catch (error) {
        setProblem(error.message);
      }
      if (!stopped) timer = setTimeout(look, EVERY_MS);
    };
    let timer = setTimeout(look, 0);
    return () => { stopped = true; clearTimeout(timer); };
  }, []);
  if (!stats) return html`<h1>${problem || " "}</h1>`;
  const ill = stats.backends.filter((one) => one.condition !== "well" || !one.usable);
  return html`<header class="head"><div><h1>${ill.length ? t("notWellTitle", ill.length) : t("wellTitle")}</h1>
      <p class="dim">${nodes.length} ${t(nodes.length === 1 ? "node" : "nodes").toLowerCase()} · ${t("up").toLowerCase()} ${took(stats.upMs)}</p></div></header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <div class="figures">
      <${Figure} title=${t("jobsRunning")} value=${count(stats.running)} text=${`${count(stats.inHand)} here`} />
      <${Figure} title=${t("jobsWaiting")} value=${count(stats.waiting)} text=${Object.keys(stats.waitingByLane).length ? Object.entries(stats.waitingByLane).map(([lane, jobs]) => `${lane}: ${jobs}`).slice(0, 2).join(", ") : "nobody waits"} />
      <${Figure} title="At vendors" value=${count(stats.atVendors)} text="being asked about" />
      <${Figure} title=${t("callbacksDue")} value=${count(stats.callbacksDue)} text=${stats.callbacksDue ? "on their way" : "all delivered"} />
    </div>
    <section class="card flush"><${Table} caption=${t("backends")} rows=${stats.backends} columns=${[
      { title: t("backends"), show: (row) => html`<${Condition} row=${row} /><a href=${href("operator/backends")}>${row.name}</a>` },
      { title: t("busy"), show: (row) => `${row.busy} of ${row.slots}` },
      { title: t("condition"), show: (row) => (row.condition === "well" ? "well" : row.condition) },
      { title: "Average", number: true, show: (row) => (row.averageExecute ? took(row.averageExecute * 1000) : "–") },
      { title: "Last trouble", show: (row) => html`<span class="dim">${row.lastErrors?.[0] ? `${row.lastErrors[0].outcome}${row.lastErrors[0].detail ? `: ${row.lastErrors[0].detail}` : ""}` : "–"}</span>` },
    ]} /></section>`;
}
