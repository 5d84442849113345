// One of four pictures that came as a single one: cut out here, so that it can be looked at, kept and used by itself.
import { html, useEffect, useState } from "../lib.js";
import { t } from "../words.js";

/**
 * The part of a picture, as a file of its own.
 * @param {{ url: string }} file @param {number} quarter @returns {Promise<Blob>}
 */
export async function cut(file, quarter) {
  const answer = await fetch(file.url);
  if (!answer.ok) throw new Error(t("pictureUnread"));
  const whole = await createImageBitmap(await answer.blob());
  const [width, height] = [Math.floor(whole.width / 2), Math.floor(whole.height / 2)];
  const [right, below] = [(quarter - 1) % 2, quarter > 2 ? 1 : 0];
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  canvas.getContext("2d")?.drawImage(whole, right * width, below * height, width, height, 0, 0, width, height);
  whole.close();
  return new Promise((done, fail) => {
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error(t("pictureUnread")))), "image/png");
  });
}

/**
 * The part, shown whole.
 * @param {{ file: JobFile, quarter: number, alt: string, kind?: string, style?: Record<string, string> }} given
 */
export function Quarter({ file, quarter, alt, kind = "", style = {} }) {
  const [url, setUrl] = useState("");
  useEffect(() => {
    let made = "";
    let gone = false;
    cut(file, quarter).then(
      (blob) => {
        if (gone) return;
        made = URL.createObjectURL(blob);
        setUrl(made);
      },
      () => {
        if (!gone) setUrl(file.url);
      },
    );
    return () => {
      gone = true;
      if (made) URL.revokeObjectURL(made);
    };
  }, [file.url, quarter]);
  const [width, height] = [Math.floor(file.width / 2), Math.floor(file.height / 2)];
  return url
    ? html`<img class=${kind} style=${style} src=${url} width=${width} height=${height} alt=${alt} />`
    : html`<span class=${`coming ${kind}`}
      style=${{ ...style, width: `${width}px`, aspectRatio: `${width} / ${height}` }}></span>`;
}

/**
 * Puts a picture, or the part of one, where downloads go.
 * @param {{ job: Job, file: JobFile, quarter?: number, place?: number }} given
 */
export async function save({ job, file, quarter = 0, place = 0 }) {
  const link = document.createElement("a");
  const blob = quarter ? await cut(file, quarter) : null;
  link.href = blob ? URL.createObjectURL(blob) : file.url;
  link.download = quarter || place ? `${job.jobId}-${quarter || place + 1}` : job.jobId;
  link.click();
  if (blob) setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
