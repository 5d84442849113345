// A field for pictures: drop, paste or choose a file where the field takes the bytes, give an address where it takes one,
// or pick from what was made before.
import { html, useEffect, useRef, useState } from "../lib.js";
import { t } from "../words.js";
import { get } from "../api.js";
import { isVideo } from "../show.js";
import { Dialog } from "./dialog.js";

const asDataUri = (file) => new Promise((done, fail) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result);
  reader.onerror = () => fail(reader.error);
  reader.readAsDataURL(file);
});

/** What the field can carry of a result: its address, or the bytes themselves where it takes them. */
async function picked(url, inline) {
  if (!inline) return url;
  const answer = await fetch(url);
  if (!answer.ok) throw new Error("the picture could not be read");
  return asDataUri(await answer.blob());
}

function Picker({ video, choose, close }) {
  const [jobs, setJobs] = useState(null);
  useEffect(() => { get("/jobs/v1?limit=60&status=success").then((page) => setJobs(page.data), () => setJobs([])); }, []);
  const files = (jobs || []).flatMap((job) => job.files.filter((file) => isVideo(file) === video).map((file) => ({ ...file, job })));
  return html`<${Dialog} close=${close} label=${t("library")} kind="picker">
    <h2>${t("library")}</h2>
    ${jobs && !files.length && html`<p class="dim">${t("emptyLibrary")}</p>`}
    <div class="wall small">${files.map((file) => html`
      <button class="thumb" onClick=${() => choose(file.url)} aria-label=${file.job.request.prompt || file.job.operation}>
        ${video ? html`<video src=${file.url} muted preload="metadata"></video>` : html`<img src=${file.url} alt="" loading="lazy" decoding="async" />`}
      </button>`)}</div>
  <//>`;
}

/** `most` pictures; the value is a list of data-URIs or addresses. */
export function PictureField({ id, value, most, inline, video = false, change, describedBy }) {
  const [problem, setProblem] = useState("");
  const [over, setOver] = useState(false);
  const [picking, setPicking] = useState(false);
  const [busy, setBusy] = useState(false);
  const input = useRef(null);
  const add = async (work) => {
    setBusy(true);
    setProblem("");
    try {
      const more = await work();
      change([...value, ...more].slice(-most));
    } catch (error) {
      setProblem(error.message);
    } finally {
      setBusy(false);
    }
  };
  const files = (list) => {
    const wanted = [...list].filter((file) => file.type.startsWith(video ? "video/" : "image/"));
    if (wanted.length && !inline) setProblem(t("addressOnly"));
    else if (wanted.length) add(() => Promise.all(wanted.map(asDataUri)));
  };
  const paste = (event) => {
    if (event.clipboardData.files.length) { event.preventDefault(); files(event.clipboardData.files); }
  };
  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    const url = event.dataTransfer.getData("text/uri-list");
    if (event.dataTransfer.files.length) files(event.dataTransfer.files);
    else if (url) add(async () => [await picked(url, inline)]);
  };
  return html`<div class=${`pictures${over ? " over" : ""}`} onPaste=${paste} onDrop=${drop}
      onDragOver=${(event) => { event.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)}>
    ${value.map((url, place) => html`<figure key=${place} class="chosen">
      ${video ? html`<video src=${url} muted></video>` : html`<img src=${url} alt="" />`}
      <button type="button" class="corner" aria-label=${t("remove")} onClick=${() => change(value.filter((_, other) => other !== place))}>×</button>
    </figure>`)}
    ${value.length < most && html`<div class="drop">
      ${inline && html`<button type="button" id=${id} class="plain" aria-describedby=${describedBy} disabled=${busy} onClick=${() => input.current.click()}>
        ${most > 1 ? t("dropPictures", most) : t("dropPicture")}</button>`}
      <button type="button" id=${inline ? undefined : id} class="plain accent" onClick=${() => setPicking(true)}>${t("library")}</button>
      ${!inline && html`<input type="url" class="address" placeholder="https://…" aria-label=${t("address")}
        onChange=${(event) => { const url = event.target.value.trim(); if (url) { event.target.value = ""; add(async () => [url]); } }} />`}
      <input ref=${input} type="file" hidden accept=${video ? "video/*" : "image/png,image/jpeg,image/webp,image/gif"} multiple=${most > 1}
        onChange=${(event) => { files(event.target.files); event.target.value = ""; }} />
    </div>`}
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${picking && html`<${Picker} video=${video} close=${() => setPicking(false)}
      choose=${(url) => { setPicking(false); add(async () => [await picked(url, inline)]); }} />`}
  </div>`;
}
