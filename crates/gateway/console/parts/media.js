// A result on the page: small first, large when it is wanted; a clip plays while somebody points at it.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { isDrawing, isVideo, medium, thumb } from "../show.js";

/** The longer sides of the pictures that the service keeps of a file. */
const SMALL = 384;
const MEDIUM = 1280;
/** @param {JobFile} file @param {number} side */
const wide = (file, side) => Math.round(Math.min(side, file.width, (side * file.width) / file.height));
/**
 * The pictures with their widths, of which a browser takes the one that is sharp enough for the place and no larger.
 * The file itself is only read where it has more to show than they have.
 * @param {JobFile} file
 */
export function choices(file) {
  const found = [`${thumb(file)} ${wide(file, SMALL)}w`, `${medium(file)} ${wide(file, MEDIUM)}w`];
  if (Math.max(file.width, file.height) > MEDIUM) found.push(`${file.url} ${file.width}w`);
  return found.join(", ");
}

/**
 * `size` is how wide it is shown at most.
 * @param {{ file: JobFile, alt: string, controls?: boolean, small?: boolean, waits?: boolean, size?: number }} given
 */
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
      <img src=${medium(file)} width=${file.width} height=${file.height} alt="" onError=${() => setBroken(true)} />
      <span aria-hidden="true">▶</span></button>`;
  }
  if (isVideo(file) && (live || broken || !small)) {
    const preload = controls ? (broken ? "metadata" : "none") : "auto";
    const leave = (/** @type {On} */ event) => {
      if (!controls) {
        event.target.pause();
        setLive(false);
      }
    };
    return html`<video preload=${preload} poster=${broken ? undefined : medium(file)} src=${file.url}
      width=${file.width} height=${file.height} muted loop playsinline controls=${controls}
      autoplay=${(live && !controls) || (waits && begun)} aria-label=${alt} onError=${() => setGone(true)}
      onPointerEnter=${(event) => event.target.play().catch(() => {})} onPointerLeave=${leave}></video>`;
  }
  const sharp = still && size && !isVideo(file) && Math.max(file.width, file.height) > SMALL;
  // Without a small picture the whole one is shown; when that is gone as well, words say so.
  const fail = () => (still ? setBroken(true) : setGone(true));
  return html`<img src=${still ? thumb(file) : file.url} srcset=${sharp ? choices(file) : undefined}
    sizes=${sharp ? `${size}px` : undefined} width=${file.width} height=${file.height} alt=${alt} loading="lazy"
    decoding="async" onPointerEnter=${() => isVideo(file) && setLive(true)} onError=${fail} />`;
}

/**
 * The files to show: the quarters of a grid where they are there, otherwise the results themselves.
 * @param {Job} job
 */
export function shown(job) {
  const quarters = job.result?.images || job.result?.data?.images;
  if (Array.isArray(quarters) && quarters.length > 1) {
    const small = job.files.filter((file) => quarters.includes(file.url));
    if (small.length === quarters.length) return small;
  }
  return job.files.filter((file) => !/\.svg$/.test(file.url) || job.files.length === 1).slice(0, 6);
}
