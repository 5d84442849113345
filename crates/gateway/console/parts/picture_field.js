// A field for pictures: drop, paste or choose a file, give an address, or pick from what was made before. A file goes
// into the asset store, whose addresses every picture field of the same account takes.
import { html, useEffect, useRef, useState } from "../lib.js";
import { t } from "../words.js";
import { get, upload } from "../api.js";
import { isDrawing, isVideo, thumb, words } from "../show.js";
import { Dialog } from "./dialog.js";
import { cut } from "./quarter.js";

/**
 * What a field can carry of a result: its address, or that of a copy where the field takes no addresses but of uploads.
 * @param {{ file: { url: string }, quarter?: number }} given @param {boolean} copied
 */
export async function carried({ file, quarter = 0 }, copied) {
  if (quarter) return upload(new File([await cut(file, quarter)], "part.png", { type: "image/png" }));
  if (!copied || file.url.startsWith("data:")) return file.url;
  const answer = await fetch(file.url);
  if (!answer.ok) throw new Error(t("pictureUnread"));
  const blob = await answer.blob();
  return upload(new File([blob], "picture", { type: blob.type }));
}

/** @param {{ video: boolean, choose: (file: JobFile) => void, close: () => void }} given */
function Picker({ video, choose, close }) {
  const [jobs, setJobs] = useState(/** @type {Job[] | null} */ (null));
  const [text, setText] = useState("");
  useEffect(() => {
    const makes = video ? "video" : "picture";
    const timer = setTimeout(
      () => {
        const words = text ? `&q=${encodeURIComponent(text)}` : "";
        get(`/jobs/v1?limit=60&status=success&makes=${makes}${words}`).then(
          (page) => setJobs(page.data),
          () => setJobs([]),
        );
      },
      text ? 200 : 0,
    );
    return () => clearTimeout(timer);
  }, [text]);
  const fits = (/** @type {JobFile} */ file) => isVideo(file) === video && !isDrawing(file);
  const files = (jobs || []).flatMap((job) => job.files.filter(fits).map((file) => ({ ...file, job })));
  const nothing = text ? t("nothingFound") : t("emptyLibrary");
  return html`<${Dialog} close=${close} label=${t("library")} kind="picker">
    <header class="row"><h2>${t("fromLibrary")}</h2><span class="space"></span>
      <input type="search" class="filter" placeholder=${t("searchWords")} aria-label=${t("searchWords")}
        onInput=${(event) => setText(event.target.value.trim())} /></header>
    ${jobs && !files.length && html`<p class="empty small">${nothing}</p>`}
    <div class="wall small">${files.map(
      (file) => html`
      <button key=${file.url} class="thumb" onClick=${() => choose(file)} title=${words(file.job)}
        aria-label=${words(file.job)}><img src=${thumb(file)} alt="" loading="lazy" decoding="async" /></button>`,
    )}
          </div>
  <//>`;
}

/**
 * `most` pictures; the value is a list of addresses. `change` gets a function from the list as it is by then to the new
 * one: while a file is on its way, other fields go on being filled in.
 * @param {{ id: string, value: string[], most: number, copied: boolean, video?: boolean,
 * change: (edit: (old: string[]) => string[]) => void, describedBy: string }} given
 */
export function PictureField({ id, value, most, copied, video = false, change, describedBy }) {
  const [problem, setProblem] = useState("");
  const [over, setOver] = useState(false);
  const [picking, setPicking] = useState(false);
  const [busy, setBusy] = useState(0);
  /** @type {Ref<HTMLInputElement>} */
  const input = useRef(null);
  /** @type {Ref<HTMLElement>} */
  const own = useRef(null);
  const here = useRef(true);
  useEffect(
    () => () => {
      here.current = false;
    },
    [],
  );
  const add = async (/** @type {() => Promise<string[]>} */ work) => {
    setBusy((now) => now + 1);
    setProblem("");
    try {
      const more = await work();
      // The field of another operation is not this one.
      if (here.current) change((/** @type {string[]} */ list) => [...list, ...more].slice(-most));
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    } finally {
      setBusy((now) => now - 1);
    }
  };
  const files = (/** @type {FileList} */ list) => {
    const wanted = [...list].filter((file) => file.type.startsWith(video ? "video/" : "image/")).slice(0, most);
    if (wanted.length) add(() => Promise.all(wanted.map(upload)));
    else if (list.length) setProblem(t(video ? "onlyVideos" : "onlyPictures"));
  };
  const paste = (/** @type {ClipboardEvent} */ event) => {
    if (/** @type {DataTransfer} */ (event.clipboardData).files.length) {
      event.preventDefault();
      files(/** @type {DataTransfer} */ (event.clipboardData).files);
    }
  };
  // A paste anywhere on the page that is not into words goes to the first field for pictures.
  useEffect(() => {
    const anywhere = (/** @type {ClipboardEvent} */ event) => {
      const first = document.querySelector(".pictures") === own.current;
      if (event.defaultPrevented || /** @type {Element} */ (event.target).closest?.("input, textarea") || !first)
        return;
      paste(event);
    };
    document.addEventListener("paste", anywhere);
    return () => document.removeEventListener("paste", anywhere);
  });
  const drop = (/** @type {On} */ event) => {
    event.preventDefault();
    setOver(false);
    const url = /** @type {DataTransfer} */ (event.dataTransfer).getData("text/uri-list");
    if (event.dataTransfer?.files.length) files(event.dataTransfer.files);
    else if (url) add(async () => [await carried({ file: { url } }, copied)]);
  };
  const take = (/** @type {number} */ place) =>
    change((/** @type {string[]} */ list) => list.filter((_, other) => other !== place));
  const ask = video ? t("dropVideo") : most > 1 ? t("dropPictures", most) : t("dropPicture");
  return html`<div ref=${own} class=${`pictures${over ? " over" : ""}`} onPaste=${paste} onDrop=${drop}
      onDragOver=${(event) => {
        event.preventDefault();
        setOver(true);
      }} onDragLeave=${() => setOver(false)}>
    ${value.map(
      (url, place) => html`<figure key=${place} class="chosen">
      ${video ? html`<video src=${url} muted></video>` : html`<img src=${url} alt="" />`}
      <button type="button" class="corner" aria-label=${t("remove")}
        onClick=${() => take(place)}>×</button>
    </figure>`,
    )}
    ${Array.from(
      { length: busy },
      () => html`<span class="chosen coming" role="img" aria-label=${t("uploading")}></span>`,
    )}
    ${
      value.length < most &&
      html`<div class="drop">
      <button type="button" id=${id} class="plain" aria-describedby=${describedBy}
        onClick=${() => input.current.click()}>
        ${ask}</button>
      <button type="button" class="plain accent" onClick=${() => setPicking(true)}>${t("fromLibrary")}</button>
      <input ref=${input} type="file" hidden multiple=${most > 1}
        accept=${video ? "video/*" : "image/png,image/jpeg,image/webp,image/gif"}
        onChange=${(event) => {
          files(event.target.files);
          event.target.value = "";
        }} />
    </div>`
    }
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      picking &&
      html`<${Picker} video=${video} close=${() => setPicking(false)}
      choose=${(file) => {
        setPicking(false);
        add(async () => [await carried({ file }, copied)]);
      }} />`
    }
  </div>`;
}
