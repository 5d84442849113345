// A result as large as the window; arrows lead through, Escape leads back.
import { html, useEffect } from "../lib.js";
import { t } from "../words.js";
import { isVideo, words } from "../show.js";
import { href } from "../route.js";
import { Dialog } from "./dialog.js";
import { Icon } from "./icon.js";
import { Media } from "./media.js";

export function Lightbox({ items, at, move, close, use = null }) {
  const { job, file } = items[at];
  const step = (by) => { const next = at + by; if (next >= 0 && next < items.length) move(next); };
  useEffect(() => {
    const press = (event) => {
      if (event.key === "ArrowLeft" || event.key === "k") step(-1);
      else if (event.key === "ArrowRight" || event.key === "j") step(1);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  return html`<${Dialog} close=${close} label=${words(job)} kind="lightbox">
    <div class="stage" onClick=${(event) => { if (event.target === event.currentTarget) close(); }}><${Media} key=${file.url} file=${file} alt=${words(job)} controls=${isVideo(file)} /></div>
    <footer class="row">
      <button class="button quiet" disabled=${at === 0} onClick=${() => step(-1)} aria-label=${t("previous")}><${Icon} name="left" /></button>
      <button class="button quiet" disabled=${at === items.length - 1} onClick=${() => step(1)} aria-label=${t("next")}><${Icon} name="right" /></button>
      <p class="words">${words(job)}</p><span class="dim">${at + 1} / ${items.length}</span><span class="space"></span>
      ${use && !isVideo(file) && html`<button class="button quiet" onClick=${() => { close(); use(file); }}>${t("useInput")}</button>`}
      <a class="button quiet" href=${href(`job/${job.jobId}`)} onClick=${close}>${t("details")}</a>
      <a class="button quiet" href=${file.url} download=${job.jobId}>${t("download")}</a>
      <button class="button quiet" onClick=${close} aria-label=${t("close")}><${Icon} name="close" /></button>
    </footer>
  <//>`;
}
