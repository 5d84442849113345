// A painter of masks: white on black, as large as the picture, with brush size, undo and invert.
import { html, useEffect, useRef, useState } from "../lib.js";
import { t } from "../words.js";
import { Dialog } from "./dialog.js";

const UNDO_MOST = 30;

export function MaskPainter({ url, done, close }) {
  const canvas = useRef(null);
  const strokes = useRef([]);
  const stroke = useRef(null);
  const inverted = useRef(false);
  const [size, setSize] = useState(64);
  const [shape, setShape] = useState(null);
  const [marked, setMarked] = useState(false);

  const draw = () => {
    const context = canvas.current.getContext("2d");
    const { width, height } = canvas.current;
    context.globalCompositeOperation = "source-over";
    context.clearRect(0, 0, width, height);
    const ink = "#ffffff";
    if (inverted.current) { context.fillStyle = ink; context.fillRect(0, 0, width, height); }
    context.globalCompositeOperation = inverted.current ? "destination-out" : "source-over";
    context.lineCap = context.lineJoin = "round";
    context.strokeStyle = context.fillStyle = ink;
    for (const { points, size: wide } of strokes.current) {
      context.lineWidth = wide;
      context.beginPath();
      points.forEach(([x, y], place) => (place ? context.lineTo(x, y) : context.moveTo(x, y)));
      if (points.length === 1) context.lineTo(points[0][0] + 0.1, points[0][1]);
      context.stroke();
    }
    setMarked(inverted.current || strokes.current.length > 0);
  };
  useEffect(() => { if (shape) draw(); }, [shape]);

  const place = (event) => {
    const box = canvas.current.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * shape.width, ((event.clientY - box.top) / box.height) * shape.height];
  };
  const down = (event) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    stroke.current = { points: [place(event)], size: (size / 1000) * Math.max(shape.width, shape.height) * 2 };
    strokes.current = [...strokes.current.slice(-UNDO_MOST * 10), stroke.current];
    draw();
  };
  const move = (event) => {
    if (!stroke.current) return;
    stroke.current.points.push(place(event));
    draw();
  };
  const finish = () => {
    const out = document.createElement("canvas");
    out.width = shape.width;
    out.height = shape.height;
    const context = out.getContext("2d");
    context.fillStyle = "#000000";
    context.fillRect(0, 0, shape.width, shape.height);
    context.drawImage(canvas.current, 0, 0);
    done(out.toDataURL("image/png"));
  };
  return html`<${Dialog} close=${close} label=${t("repaint")} kind="mask">
    <h2>${t("repaint")}</h2>
    <p class="dim">Paint over what should change.</p>
    <div class="mask-board">
      <img src=${url} alt="" onLoad=${(event) => setShape({ width: event.target.naturalWidth, height: event.target.naturalHeight })} />
      ${shape && html`<canvas ref=${canvas} width=${shape.width} height=${shape.height} aria-label=${t("repaint")}
        onPointerDown=${down} onPointerMove=${move} onPointerUp=${() => { stroke.current = null; }} onPointerCancel=${() => { stroke.current = null; }}></canvas>`}
    </div>
    <div class="row">
      <label class="inline">${t("brush")} <input type="range" min="8" max="160" value=${size} onInput=${(event) => setSize(Number(event.target.value))} /></label>
      <button class="button quiet" onClick=${() => { strokes.current = strokes.current.slice(0, -1); draw(); }}>${t("undo")}</button>
      <button class="button quiet" onClick=${() => { inverted.current = !inverted.current; draw(); }}>${t("invert")}</button>
      <button class="button quiet" onClick=${() => { strokes.current = []; inverted.current = false; draw(); }}>${t("clear")}</button>
      <span class="space"></span>
      <button class="button" disabled=${!marked} onClick=${finish}>${t("done")}</button>
    </div>
  <//>`;
}
