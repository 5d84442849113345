// The caller's own accounts at vendors: add one, ask the vendor, pause, remove.
import { html, useEffect, useState } from "../../lib.js";
import { t } from "../../words.js";
import { said } from "../../show.js";
import { get, patch, post, remove } from "../../api.js";
import { Ask } from "../../parts/ask.js";
import { RowDeeds } from "../../parts/row_menu.js";
import { Table } from "../../parts/table.js";
import { Condition, workerCondition } from "../../parts/condition.js";
import { NewOwnWorker } from "./own_worker.js";

export function Custody() {
  const [rows, setRows] = useState(/** @type {Wire.OwnWorker[] | null} */ (null));
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState(/** @type {Wire.OwnWorker | null} */ (null));
  const [told, setTold] = useState(/** @type {Told | null} */ (null));
  const read = () =>
    get("/custody/v1/accounts").then(
      ({ data }) => setRows(data),
      (error) => setTold({ bad: true, text: error.message }),
    );
  useEffect(() => {
    read();
  }, []);
  const act = (/** @type {Promise<unknown>} */ work, good = "") =>
    work.then(
      () => {
        setTold(good ? { text: good } : null);
        read();
      },
      (error) => {
        setTold({ bad: true, text: said(error.message) });
        read();
      },
    );
  const base = (/** @type {Wire.OwnWorker} */ row) => `/custody/v1/accounts/${encodeURIComponent(row.id)}`;
  return html`<section class="card flush"><header class="inner">
    <div><h2>${t("custody")}</h2><p class="dim">${t("custodyText")}</p></div>
      <button class="button" onClick=${() => setAdding(true)}>${t("addOwn")}</button></header>
    ${told && html`<p class=${`told ${told.bad ? "bad" : "ok"}`} role="status">${told.text}</p>`}
    ${
      rows?.length === 0 &&
      html`<div class="empty plainly"><p class="empty-title">${t("noOwn")}</p><p>${t("noOwnText")}</p></div>`
    }
    ${
      (rows?.length ?? 0) > 0 &&
      html`<${Table} caption=${t("custody")} rows=${rows} columns=${
        /** @type {Column<Wire.OwnWorker>[]} */ ([
          {
            title: t("name"),
            show: (row) => html`<${Condition} row=${workerCondition(row)} />
        <b>${row.name}</b> <span class="dim">${row.vendor}</span>
          <span class="dim block break">${row.base_url}</span>`,
          },
          { title: t("busy"), show: (row) => t("ofAll", row.busy ?? 0, row.concurrency) },
          { title: t("condition"), show: (row) => t(`condition.${workerCondition(row).condition}`) },
          {
            title: "",
            show: (row) => html`<${RowDeeds} name=${row.name} items=${[
              {
                text: row.state === "active" ? t("pause") : t("resume"),
                act: () => act(patch(base(row), { state: row.state === "active" ? "paused" : "active" })),
              },
              { text: t("remove"), danger: true, act: () => setRemoving(row) },
            ]}><button class="button quiet" onClick=${() => act(post(`${base(row)}/probe`), t("probeGood", row.name))}>
            ${t("probe")}</button><//>`,
          },
        ])
      } />`
    }
    ${
      removing &&
      html`<${Ask} title=${t("removeTitle", removing.name)} text=${t("removeText")} action=${t("remove")}
      danger=${true} fields=${[]} close=${() => setRemoving(null)} act=${() => remove(base(removing)).then(read)} />`
    }
    ${adding && html`<${NewOwnWorker} close=${() => setAdding(false)} made=${read} />`}</section>`;
}
