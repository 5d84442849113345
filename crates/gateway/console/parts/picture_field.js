// A field for pictures: drop, paste or choose a file, give an address, or pick from what was made before. A file goes into
// the asset store where the field takes an address, and into the request itself where it takes the bytes.
import { html, useEffect, useRef, useState } from "../lib.js";
import { t } from "../words.js";
import { get, upload } from "../api.js";
import { isDrawing, isVideo, thumb, words } from "../show.js";
import { Dialog } from "./dialog.js";

const asDataUri = (file) => new Promise((done, fail) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result);
  reader.onerror = () => fail(reader.error);
  reader.readAsDataURL(file);
});

/** What the field can carry of a result: its address, or the bytes themselves where it takes them. */
export async function carried(url, inline) {
  if (!inline || url.startsWith("data:")) return url;
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(t("pictureUnread"));
  return asDataUri(await answer.blob());
}

function Picker({ video, choose, close }) {
  const [jobs, setJobs] = useState(null);
  const [text, setText] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => {
      get(`/jobs/v1?limit=60&status=success&makes=${video ? "video" : "picture"}${text ? `&q=${encodeURIComponent(text)}` : ""}`).then((page) => setJobs(page.data), () => setJobs([]));
    }, text ? 200 : 0);
    return () => clearTimeout(timer);
  }, [text]);
  const files = (jobs || []).flatMap((job) => job.files.filter((file) => isVideo(file) === video && !isDrawing(file)).map((file) => ({ ...file, job })));
  return html`<${Dialog} close=${close} label=${t("library")} kind="picker">
    <header class="row"><h2>${t("fromLibrary")}</h2><span class="space"></span><input type="search" class="filter" placeholder=${t("searchWords")} aria-label=${t("searchWords")} onInput=${(event) => setText(event.target.value.trim())} /></header>
    ${jobs && !files.length && html`<p class="empty small">${text ? t("nothingFound") : t("emptyLibrary")}</p>`}
    <div class="wall small">${files.map((file) => html`
      <button key=${file.url} class="thumb" onClick=${() => choose(file.url)} title=${words(file.job)} aria-label=${words(file.job)}><img src=${thumb(file)} alt="" loading="lazy" decoding="async" /></button>`)}</div>
  <//>`;
}

/** `most` pictures; the value is a list of data-URIs or addresses. */
export function PictureField({ id, value, most, inline, video = false, change, describedBy }) {
  const [problem, setProblem] = useState("");
  const [over, setOver] = useState(false);
  const [picking, setPicking] = useState(false);
  const [busy, setBusy] = useState(0);
  const input = useRef(null);
  const add = async (work) => {
    setBusy((now) => now + 1);
    setProblem("");
    try {
      const more = await work();
      change([...value, ...more].slice(-most));
    } catch (error) {
      setProblem(error.message);
    } finally {
      setBusy((now) => now - 1);
    }
  };
  const files = (list) => {
    const wanted = [...list].filter((file) => file.type.startsWith(video ? "video/" : "image/")).slice(0, most);
    if (wanted.length) add(() => Promise.all(wanted.map(inline ? asDataUri : upload)));
    else if (list.length) setProblem(t(video ? "onlyVideos" : "onlyPictures"));
  };
  const paste = (event) => {
    if (event.clipboardData.files.length) { event.preventDefault(); files(event.clipboardData.files); }
  };
  // A paste anywhere on the page that is not into words goes to the first field for pictures.
  useEffect(() => {
    const anywhere = (event) => {
      if (event.defaultPrevented || event.target.closest?.("input, textarea") || document.querySelector(".pictures") !== own.current) return;
      paste(event);
    };
    document.addEventListener("paste", anywhere);
    return () => document.removeEventListener("paste", anywhere);
  });
  const own = useRef(null);
  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    const url = event.dataTransfer.getData("text/uri-list");
    if (event.dataTransfer.files.length) files(event.dataTransfer.files);
    else if (url) add(async () => [await carried(url, inline)]);
  };
  return html`<div ref=${own} class=${`pictures${over ? " over" : ""}`} onPaste=${paste} onDrop=${drop}
      onDragOver=${(event) => { event.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)}>
    ${value.map((url, place) => html`<figure key=${place} class="chosen">
      ${video ? html`<video src=${url} muted></video>` : html`<img src=${url} alt="" />`}
      <button type="button" class="corner" aria-label=${t("remove")} onClick=${() => change(value.filter((_, other) => other !== place))}>×</button>
    </figure>`)}
    ${Array.from({ length: busy }, () => html`<span class="chosen coming" aria-label=${t("uploading")}></span>`)}
    ${value.length < most && html`<div class="drop">
      <button type="button" id=${id} class="plain" aria-describedby=${describedBy} onClick=${() => input.current.click()}>${video ? t("dropVideo") : most > 1 ? t("dropPictures", most) : t("dropPicture")}</button>
      <button type="button" class="plain accent" onClick=${() => setPicking(true)}>${t("fromLibrary")}</button>
      <input ref=${input} type="file" hidden accept=${video ? "video/*" : "image/png,image/jpeg,image/webp,image/gif"} multiple=${most > 1}
        onChange=${(event) => { files(event.target.files); event.target.value = ""; }} />
    </div>`}
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${picking && html`<${Picker} video=${video} close=${() => setPicking(false)}
      choose=${(url) => { setPicking(false); add(async () => [await carried(url, inline)]); }} />`}
  </div>`;
}
