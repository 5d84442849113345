// A result on the page: small first, large when it is wanted; a clip plays while somebody points at it.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { isDrawing, isVideo, thumb } from "../show.js";

export function Media({ file, alt, controls = false, small = false, waits = false }) {
  const [begun, setBegun] = useState(!waits);
  const [broken, setBroken] = useState(false);
  const [live, setLive] = useState(controls);
  const still = small && !broken && !isDrawing(file);
  // Nothing of a clip is read before somebody wants to see it.
  if (isVideo(file) && !begun && !broken) {
    return html`<button type="button" class="plain poster" aria-label=${`${t("play")}: ${alt}`} onClick=${() => setBegun(true)}><img src=${thumb(file)} width=${file.width} height=${file.height} alt="" onError=${() => setBroken(true)} /><span aria-hidden="true">▶</span></button>`;
  }
  if (isVideo(file) && (live || broken || !small)) {
    return html`<video preload=${controls ? (broken ? "metadata" : "none") : "auto"} poster=${broken ? undefined : thumb(file)} src=${file.url} width=${file.width} height=${file.height} muted loop playsinline autoplay=${(live && !controls) || (waits && begun)} controls=${controls} aria-label=${alt}
      onPointerEnter=${(event) => event.target.play().catch(() => {})} onPointerLeave=${(event) => { if (!controls) { event.target.pause(); setLive(false); } }}></video>`;
  }
  return html`<img src=${still ? thumb(file) : file.url} width=${file.width} height=${file.height} alt=${alt} loading="lazy" decoding="async"
    onPointerEnter=${() => isVideo(file) && setLive(true)} onError=${() => still && setBroken(true)} />`;
}

/** The files to show: the quarters of a grid where they are there, otherwise the results themselves. */
export function shown(job) {
  const quarters = job.result?.images || job.result?.data?.images;
  if (Array.isArray(quarters) && quarters.length > 1) {
    const small = job.files.filter((file) => quarters.includes(file.url));
    if (small.length === quarters.length) return small;
  }
  return job.files.filter((file) => !/\.svg$/.test(file.url) || job.files.length === 1).slice(0, 6);
}
