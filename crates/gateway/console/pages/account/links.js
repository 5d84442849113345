// Links to results: which ones there are, until when, and taking them back.
import { html, useState } from "../../lib.js";
import { t } from "../../words.js";
import { href } from "../../route.js";
import { Copy } from "../../parts/copy.js";
import { takeBack } from "../../parts/share.js";
import { Paged, Time, usePages } from "../../parts/table.js";

export function Links() {
  const pages = usePages("/links/v1", 20);
  const [problem, setProblem] = useState("");
  const end = (/** @type {Wire.Link} */ row) =>
    takeBack(row).then(
      () => {
        setProblem("");
        pages.again();
      },
      (error) => setProblem(error.message),
    );
  return html`${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <section class="card flush"><header class="inner"><div><h2>${t("links")}</h2>
      <p class="dim">${t("linksText")}</p></div></header>
      <${Paged} pages=${pages} caption=${t("links")} empty=${t("noLinks")} columns=${
        /** @type {Column<Wire.Link>[]} */ ([
          {
            title: t("link"),
            show: (row) => html`<a class="break code" href=${row.url} target="_blank" rel="noreferrer">
          ${new URL(row.url).pathname}</a>`,
          },
          {
            title: t("what"),
            show: (row) => html`<a class="dim" title=${row.jobId} href=${href(`job/${row.jobId}`)}>
          ${t(row.type.startsWith("video/") ? "intent.video" : "intent.picture")}</a>`,
          },
          { title: t("linkEnds"), show: (row) => html`<${Time} at=${row.expiresAt} />` },
          {
            title: "",
            show: (row) => html`<span class="actions"><${Copy} text=${row.url} />
          <button type="button" class="button quiet danger" onClick=${() => end(row)}>${t("linkEnd")}</button></span>`,
          },
        ])
      } /></section>`;
}
