// A result as large as the window; arrows lead through, Escape leads back. It stays with its picture while others come.
import { html, useEffect } from "../lib.js";
import { t } from "../words.js";
import { isVideo, words } from "../show.js";
import { href } from "../route.js";
import { Dialog } from "./dialog.js";
import { Icon } from "./icon.js";
import { Media } from "./media.js";
import { PieceDeeds } from "./piece_deeds.js";
import { Quarter } from "./quarter.js";

/**
 * `items` are pieces, `at` is the key of the one that is shown.
 * @param {{ items: Piece[], at: string, move: (key: string) => void, close: () => void, all: All | null,
 * hands: Hands | null, told?: Told | null, balance?: number | null }} given
 */
export function Lightbox({ items, at, move, close, all, hands, told = null, balance = null }) {
  const place = items.findIndex((one) => one.key === at);
  const piece = items[place];
  useEffect(() => {
    if (!piece) close();
  }, [Boolean(piece)]);
  const step = (/** @type {number} */ by) => {
    const next = items[place + by];
    if (next) move(next.key);
  };
  useEffect(() => {
    const press = (/** @type {KeyboardEvent} */ event) => {
      if (
        /** @type {Element} */ (event.target).closest?.("input, textarea, select") ||
        document.querySelectorAll("dialog").length > 1
      )
        return;
      if (event.key === "ArrowLeft" || event.key === "k") step(-1);
      else if (event.key === "ArrowRight" || event.key === "j") step(1);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  if (!piece) return null;
  const { job, file, quarter } = piece;
  const picture = quarter
    ? html`<${Quarter} key=${piece.key} file=${file} quarter=${quarter} alt=${words(job)} />`
    : html`<${Media} key=${file.url} file=${file} alt=${words(job)} controls=${isVideo(file)} />`;
  return html`<${Dialog} close=${close} label=${words(job)} kind="lightbox">
    <div class="stage" onClick=${(event) => {
      if (event.target === event.currentTarget) close();
    }}>${picture}</div>
    <footer>
      <div class="row lightbox-bar">
        <button class="button quiet" disabled=${place === 0} onClick=${() => step(-1)} aria-label=${t("previous")}>
          <${Icon} name="left" /></button>
        <button class="button quiet" disabled=${place === items.length - 1} onClick=${() => step(1)}
          aria-label=${t("next")}>
          <${Icon} name="right" /></button>
        <p class="words" dir="auto">${words(job)}</p><span class="counter">${place + 1} / ${items.length}</span>
        <span class="space"></span>
        <a class="button quiet" href=${href(`job/${job.jobId}`)} onClick=${close}>${t("details")}</a>
        <button class="button quiet" onClick=${close} aria-label=${t("close")}><${Icon} name="close" /></button>
      </div>
      ${
        all &&
        hands &&
        html`<${PieceDeeds} key=${piece.key} all=${all} piece=${piece} hands=${hands} balance=${balance}
        leave=${close} />`
      }
      ${
        told &&
        html`<p class=${`told ${told.bad ? "bad" : "ok"}`} role="status">${told.text}
        ${told.job ? html` <a href=${href(`job/${told.job}`)} onClick=${close}>${t("details")}</a>` : ""}</p>`
      }
    </footer>
  <//>`;
}
