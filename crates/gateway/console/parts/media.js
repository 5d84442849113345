// A result on the page: small first, large when it is wanted; a clip plays while somebody points at it.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { isDrawing, isVideo, thumb } from "../show.js";

/** The longer side of the small picture that the service keeps. */
const SMALL = 384;
const wide = (file) => Math.round(SMALL * Math.min(1, file.width / file.height));
/**
 * Both pictures with their widths, of which a browser takes the one that is sharp enough for the place and no larger.
 */
const choices = (file) => `${thumb(file)} ${wide(file)}w, ${file.url} ${file.width}w`;

/** `size` is how wide it is shown at most. */
export function Media({ file, alt, controls = false, small = false, waits = false, size = 0 }) {
  const [begun, setBegun] = useState(!waits);
  const [broken, setBroken] = useState(false);
  const [gone, setGone] = useState(false);
  const [live, setLive] = useState(controls);
  const still = small && !broken && !isDrawing(file);
  if (gone) return html`<span class="gone" role="img" aria-label=${alt || t("fileGone")}>${t("fileGone")}</span>`;
  // Nothing of a clip is read before somebody wants to see it.
  if (isVideo(file) && !begun && !broken) {
    return html`<button type="button" class="plain poster" aria-label=${`${t("play")}: ${alt}`}
      onClick=${() => setBegun(true)}>
      <img src=${thumb(file)} width=${file.width} height=${file.height} alt="" onError=${() => setBroken(true)} />
      <span aria-hidden="true">▶</span></button>`;
  }
  if (isVideo(file) && (live || broken || !small)) {
    const preload = controls ? (broken ? "metadata" : "none") : "auto";
    const leave = (event) => {
      if (!controls) {
        event.target.pause();
        setLive(false);
      }
    };
    return html`<video preload=${preload} poster=${broken ? undefined : thumb(file)} src=${file.url} width=${file.width}
      height=${file.height} muted loop playsinline autoplay=${(live && !controls) || (waits && begun)}
        controls=${controls}
      aria-label=${alt} onError=${() => setGone(true)}
      onPointerEnter=${(event) => event.target.play().catch(() => {})} onPointerLeave=${leave}></video>`;
  }
  const sharp = still && size && !isVideo(file) && Math.max(file.width, file.height) > SMALL;
  // Without a small picture the whole one is shown; when that is gone as well, words say so.
  const fail = () => (still ? setBroken(true) : setGone(true));
  return html`<img src=${still ? thumb(file) : file.url} srcset=${sharp ? choices(file) : undefined}
    sizes=${sharp ? `${size}px` : undefined} width=${file.width} height=${file.height} alt=${alt} loading="lazy"
    decoding="async" onPointerEnter=${() => isVideo(file) && setLive(true)} onError=${fail} />`;
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
