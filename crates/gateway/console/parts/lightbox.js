// A result as large as the window; arrows lead through, Escape leads back.
import { html, useEffect } from "../lib.js";
import { t } from "../words.js";
import { words } from "../show.js";
import { href } from "../route.js";
import { Dialog } from "./dialog.js";
import { Icon } from "./icon.js";
import { Media } from "./result.js";

export function Lightbox({ items, at, move, close }) {
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
    <div class="stage"><${Media} file=${file} alt=${words(job)} controls=${true} /></div>
    <footer class="row">
      <button class="button quiet" disabled=${at === 0} onClick=${() => step(-1)} aria-label="Previous"><${Icon} name="left" /></button>
      <button class="button quiet" disabled=${at === items.length - 1} onClick=${() => step(1)} aria-label="Next"><${Icon} name="right" /></button>
      <p class="words">${words(job)}</p><span class="space"></span>
      <a class="button quiet" href=${href(`job/${job.jobId}`)} onClick=${close}>${t("request")}</a>
      <a class="button quiet" href=${file.url} download=${job.jobId}>${t("download")}</a>
      <button class="button quiet" onClick=${close}>${t("close")}</button>
    </footer>
  <//>`;
}
