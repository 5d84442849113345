// A link that shows one file to whoever has it: made for so long, copied, and taken back.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { when } from "../show.js";
import { post, remove } from "../api.js";
import { Copy } from "./copy.js";
import { Dialog } from "./dialog.js";

const DAY_S = 86_400;
/** How long a link may last, in days; the first choice is the middle one. */
const SPANS = [1, 7, 30];

/** @param {Wire.Link} link */
export const takeBack = (link) => remove(`/links/v1/${encodeURIComponent(link.id)}`);

/** @param {{ piece: Piece, close: () => void }} given */
export function Share({ piece, close }) {
  const [days, setDays] = useState(SPANS[1]);
  const [link, setLink] = useState(/** @type {Wire.Link | null} */ (null));
  const [busy, setBusy] = useState(false);
  const [told, setTold] = useState("");
  const work = async (/** @type {() => Promise<void>} */ step) => {
    setBusy(true);
    setTold("");
    try {
      await step();
    } catch (error) {
      setTold(/** @type {Error} */ (error).message);
    }
    setBusy(false);
  };
  const make = (/** @type {On} */ event) => {
    event.preventDefault();
    const { job, file } = piece;
    const wish = { file: job.files.indexOf(file), expiresIn: days * DAY_S };
    return work(async () => setLink((await post(`/jobs/v1/${encodeURIComponent(job.jobId)}/links`, wish)).data));
  };
  const end = () =>
    work(async () => {
      await takeBack(/** @type {Wire.Link} */ (link));
      setLink(null);
      setTold(t("linkEnded"));
    });
  return html`<${Dialog} close=${close} label=${t("share")}>
    <h2>${t("share")}</h2><p class="dim">${t(piece.quarter ? "shareTextWhole" : "shareText")}</p>
    <form onSubmit=${make}>
      ${
        link
          ? html`<div class="field"><label for="share-url">${t("linkUntil", when(link.expiresAt))}</label>
        <input id="share-url" class="code" readonly value=${link.url} onFocus=${(event) => event.target.select()} />
          </div>`
          : html`<div class="field"><span class="label" id="share-days">${t("linkLasts")}</span>
        <div class="chips" role="radiogroup" aria-labelledby="share-days">${SPANS.map(
          (one) => html`<label class=${`chip${one === days ? " active" : ""}`}>
            <input type="radio" name="share-days" checked=${one === days} onChange=${() => setDays(one)} />
              ${t(`linkDays.${one}`)}</label>`,
        )}</div></div>`
      }
      ${told && html`<p class="hint" role="status">${told}</p>`}
      <div class="row"><span class="space"></span>
        ${
          link
            ? html`<button type="button" class="button quiet danger" disabled=${busy} onClick=${end}>
          ${t("linkEnd")}</button><${Copy} text=${link.url} />
            <button type="button" class="button" onClick=${close}>${t("finish")}</button>`
            : html`<button type="button" class="button quiet" onClick=${close}>${t("leave")}</button>
          <button class="button" disabled=${busy}>${t("linkMake")}</button>`
        }</div>
    </form><//>`;
}
