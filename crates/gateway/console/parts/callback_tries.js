// One callback: where it goes, how each try went, and sending it again.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { when } from "../show.js";
import { post } from "../api.js";
import { Table, Time } from "./table.js";

/** @param {{ callback: Wire.CallbackLog, again: () => void, own?: boolean }} given */
export function CallbackTries({ callback, again, own = true }) {
  const [problem, setProblem] = useState("");
  const [sent, setSent] = useState(false);
  const redeliver = async () => {
    try {
      await post(`/account/v1/callbacks/${encodeURIComponent(callback.id)}/redeliver`);
      setProblem("");
      setSent(true);
      for (const ms of [300, 900, 2000]) setTimeout(again, ms);
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    }
  };
  return html`<p class="dim break">${callback.url}</p>
    <p><span class=${`tag ${callback.status}`}>${t(`callback.${callback.status}`)}</span>
      ${callback.nextAttemptAt ? html` <span class="dim">${t("nextTry", when(callback.nextAttemptAt))}</span>` : ""}</p>
    ${
      callback.log &&
      html`<${Table} caption=${t("tries")} rows=${callback.log} empty=${t("noTries")} columns=${
        /** @type {Column<Wire.CallbackTry>[]} */ ([
          { title: t("when"), show: (row) => html`<${Time} at=${row.time} />` },
          {
            title: t("answer"),
            show: (row) => html`<b>${row.status ?? "–"}</b> <span class="dim break">
          ${row.error || row.answer.slice(0, 120)}</span>`,
          },
          { title: "ms", number: true, show: (row) => row.durationMs },
        ])
      } />`
    }
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      own &&
      html`<div class="row"><button class="button quiet" onClick=${redeliver}>${t("redeliver")}</button>
      ${sent && html`<span class="ok" role="status">${t("onItsWay")}</span>`}</div>`
    }`;
}
