// Models that operators sell: what each is like, its price, its routes and its state, a line each; a form for one.
import { html, useEffect, useState } from "../../lib.js";
import { given, many, t } from "../../words.js";
import { count } from "../../show.js";
import { get, remove } from "../../api.js";
import { go, href } from "../../route.js";
import { forget, wholeCatalogue } from "../../catalogue.js";
import { Ask } from "../../parts/ask.js";
import { RowDeeds } from "../../parts/row_menu.js";
import { Table } from "../../parts/table.js";
import { builtIn, likeOf, likes } from "../../parts/likes.js";
import { priceLine, routeLine, stateOf } from "../../parts/model.js";
import { ModelForm } from "./model_form.js";
import { ModelTest } from "./model_test.js";

/** @param {{ row: Wire.SoldModel }} given */
const State = ({ row }) => {
  const { kind, text } = stateOf(row);
  return html`<span class=${`tag ${kind}`}>
  ${text}</span>${row.successor ? html`<span class="dim block small">→ ${row.successor}</span>` : ""}`;
};

/** @param {{ who: Runs, route: Route }} given */
export function Models({ who, route }) {
  const [rows, setRows] = useState(/** @type {Wire.SoldModel[] | null} */ (null));
  const [document, setDocument] = useState(/** @type {All | null} */ (null));
  const [backends, setBackends] = useState(/** @type {Wire.Backend[]} */ ([]));
  const [text, setText] = useState("");
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [testing, setTesting] = useState(/** @type {Wire.SoldModel | null} */ (null));
  const [told, setTold] = useState(/** @type {Told | null} */ (null));
  const may = who.operator.role !== "viewer";
  const bad = (/** @type {Refusal} */ error) => setTold({ bad: true, text: error.message });
  const read = () =>
    Promise.all([get("/admin/v1/models"), wholeCatalogue()]).then(([{ data }, all]) => {
      setRows(data);
      setDocument(all);
    }, bad);
  useEffect(() => {
    read();
    get("/admin/v1/backends").then(
      ({ data }) => setBackends(data),
      () => {},
    );
  }, []);
  const all = rows && document ? likes(document, rows) : [];
  const like = (/** @type {Wire.SoldModel} */ row) => (row.like ? likeOf(all, row.like) : builtIn(all, row.name));
  const rankOf = (/** @type {string} */ name) => backends.find((one) => one.name === name || one.id === name)?.rank;
  const list = () => go("operator/models");
  const done = (/** @type {Told} */ told) => {
    forget();
    setTold(told);
    list();
    return read();
  };
  const [wanted, isNew] = [route.query.model, route.query.new !== undefined];
  if ((wanted || isNew) && !(rows && document))
    return html`${
      told && html`<p class="told bad" role="status">${told.text}</p>`
    }<section class="card waiting" aria-busy="true"></section>`;
  const row = wanted && rows?.find((one) => one.name === wanted);
  if (row || isNew)
    return html`<${ModelForm} key=${row ? `${row.name} ${row.revision}` : "new"} row=${row || null}
    rows=${rows} all=${all} backends=${backends} may=${may} leave=${list}
      saved=${(now) => done({ text: t("modelSaved", now.name) })} />`;
  const found = (rows || []).filter((one) =>
    [one.name, one.title, one.like, ...(one.aliases || [])].some((name) =>
      name?.toLowerCase().includes(text.trim().toLowerCase()),
    ),
  );
  const removal = (/** @type {Wire.SoldModel} */ one) => ({
    title: t("removeTitle", one.name),
    text: t(one.like ? "modelRemoveText" : "modelResetText"),
    action: t("remove"),
    danger: true,
    fields: [],
    act: async () => {
      await remove(`/admin/v1/models/${encodeURIComponent(one.name)}?revision=${one.revision}`);
      await done({ text: t("modelRemoved", one.name) });
    },
  });
  return html`<header class="head"><div><h1>${t("models")}</h1>
    <p class="dim">${rows?.length ? many(rows.length, "modelOne", "modelMany", count(rows.length)) : t("modelsText")}
      </p></div>
      ${
        (rows?.length ?? 0) > 5 &&
        html`<input type="search" class="filter" placeholder=${t("filter")} aria-label=${t("filter")} value=${text}
          onInput=${(event) => setText(event.target.value)} />`
      }
      ${may && html`<a class="button" href=${href("operator/models", { new: "model" })}>${t("newModel")}</a>`}</header>
    ${told && html`<p class=${`told ${told.bad ? "bad" : "ok"}`} role="status">${told.text}</p>`}
    ${!rows && !told && html`<section class="card waiting" aria-busy="true"></section>`}
    ${
      rows?.length === 0 &&
      html`<div class="empty plainly"><p class="empty-title">${t("noModels")}</p><p>${t("noModelsText")}</p>
        <p><a href="/docs/guide/models">${t("readGuide")}</a></p></div>`
    }
    ${
      (rows?.length ?? 0) > 0 &&
      html`<section class="card flush">
        <${Table} caption=${t("models")} rows=${found.map((one) => ({ ...one, id: one.name }))}
          empty=${t("nothingFound")} columns=${
            /** @type {Column<Wire.SoldModel>[]} */ ([
              {
                title: t("name"),
                show: (
                  one,
                ) => html`<a class="break" href=${href("operator/models", { model: one.name })}><b>${one.name}</b></a>
          ${one.title ? html`<span class="dim block">${one.title}</span>` : ""}
            ${
              one.aliases?.length
                ? html`<span class="dim block small break">${t("modelAlso", one.aliases.join(", "))}</span>`
                : ""
            }`,
              },
              {
                title: t("modelLike"),
                show: (one) =>
                  one.like
                    ? html`<code class="break">${one.like}</code>`
                    : html`<span class="dim">${t("modelBuiltIn")}</span>`,
              },
              {
                title: t("model.price"),
                show: (one) =>
                  priceLine(one.price, like(one)?.makes) || html`<span class="dim">${t("priceTariff")}</span>`,
              },
              {
                title: t("model.routes"),
                show: (one) => html`<span class="small break">
          ${routeLine(one.routes, rankOf) || html`<span class="dim">${t("routesAny")}</span>`}</span>
            ${(one.route_health || [])
              .filter((health) => health.problem)
              .map(
                (health) =>
                  html`<span class="warn-text block small break">
                    ${health.backend}: ${given(health.problem || "")}</span>`,
              )}`,
              },
              { title: t("status"), show: (one) => html`<${State} row=${one} />` },
              { title: t("revision"), number: true, show: (one) => count(one.revision) },
              {
                title: "",
                show: (one) =>
                  may &&
                  html`<${RowDeeds} name=${one.name} items=${[
                    one.like && like(one) && one.enabled !== false && { text: t("probe"), act: () => setTesting(one) },
                    { text: t("remove"), danger: true, act: () => setAsking(removal(one)) },
                  ]}><a class="button quiet" href=${href("operator/models", { model: one.name })}>
                    ${t("change")}</a><//>`,
              },
            ])
          } /></section>`
    }
    ${testing && html`<${ModelTest} row=${testing} like=${like(testing)} close=${() => setTesting(null)} />`}
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}`;
}
