// A painter of masks, as large as the picture, with brush size, undo and invert: white on black, or holes in white.
import { html, useEffect, useRef, useState } from "../lib.js";
import { t } from "../words.js";
import { Dialog } from "./dialog.js";

/** What is painted is shown in a colour that pictures seldom have; the mask itself is white. */
const PAINT = "#ff5a1f";
const WHITE = "#ffffff";
/** How far an arrow key moves the brush, as a share of the picture. */
const STEP = 0.02;

/**
 * @param {{ url: string, done: (blob: Blob | null) => void, close: () => void, holes?: boolean,
 * children?: Hole | null }} given
 */
export function MaskPainter({ url, done, close, holes = false, children = null }) {
  /** @type {Ref<HTMLCanvasElement>} */
  const canvas = useRef(null);
  const strokes = useRef(/** @type {Stroke[]} */ ([]));
  const stroke = useRef(/** @type {Stroke | null} */ (null));
  const inverted = useRef(false);
  const cursor = useRef([0.5, 0.5]);
  const [size, setSize] = useState(64);
  const [shape, setShape] = useState(/** @type {{ width: number, height: number } | null} */ (null));
  const [marked, setMarked] = useState(false);
  // Nothing is painted before the picture is there.
  const board = shape || { width: 1, height: 1 };
  const wide = () => (size / 1000) * Math.max(board.width, board.height) * 2;

  const draw = () => {
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.current.getContext("2d"));
    const { width, height } = canvas.current;
    context.globalCompositeOperation = "source-over";
    context.clearRect(0, 0, width, height);
    if (inverted.current) {
      context.fillStyle = PAINT;
      context.fillRect(0, 0, width, height);
    }
    context.globalCompositeOperation = inverted.current ? "destination-out" : "source-over";
    context.lineCap = context.lineJoin = "round";
    context.strokeStyle = context.fillStyle = PAINT;
    for (const { points, size: broad } of strokes.current) {
      context.lineWidth = broad;
      context.beginPath();
      for (const [place, [x, y]] of points.entries()) place ? context.lineTo(x, y) : context.moveTo(x, y);
      if (points.length === 1) context.lineTo(points[0][0] + 0.1, points[0][1]);
      context.stroke();
    }
    setMarked(inverted.current || strokes.current.length > 0);
  };
  useEffect(() => {
    if (shape) draw();
  }, [shape]);

  const place = (/** @type {On} */ event) => {
    const box = canvas.current.getBoundingClientRect();
    return [
      ((event.clientX - box.left) / box.width) * board.width,
      ((event.clientY - box.top) / box.height) * board.height,
    ];
  };
  const begin = (/** @type {number[]} */ point) => {
    stroke.current = { points: [point], size: wide() };
    strokes.current = [...strokes.current, stroke.current];
    draw();
  };
  const down = (/** @type {On} */ event) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    begin(place(event));
  };
  const move = (/** @type {On} */ event) => {
    if (!stroke.current) return;
    stroke.current.points.push(place(event));
    draw();
  };
  // Painting without a pointer: arrows move, space paints.
  const press = (/** @type {On} */ event) => {
    const by = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] }[event.key];
    if (by) {
      event.preventDefault();
      cursor.current = [
        Math.min(1, Math.max(0, cursor.current[0] + by[0])),
        Math.min(1, Math.max(0, cursor.current[1] + by[1])),
      ];
    }
    if (by ? event.shiftKey : event.key === " ") {
      event.preventDefault();
      begin([cursor.current[0] * board.width, cursor.current[1] * board.height]);
      stroke.current = null;
    }
  };
  const finish = () => {
    const out = document.createElement("canvas");
    out.width = board.width;
    out.height = board.height;
    const context = /** @type {CanvasRenderingContext2D} */ (out.getContext("2d"));
    const fill = (/** @type {GlobalCompositeOperation} */ how, /** @type {string} */ colour) => {
      context.globalCompositeOperation = how;
      context.fillStyle = colour;
      context.fillRect(0, 0, board.width, board.height);
    };
    context.drawImage(canvas.current, 0, 0);
    if (holes) fill("source-out", WHITE);
    else {
      fill("source-in", WHITE);
      fill("destination-over", "#000000");
    }
    out.toBlob((blob) => done(blob), "image/png");
  };
  return html`<${Dialog} close=${close} label=${t("repaint")} kind="mask">
    <h2>${t("repaint")}</h2>
    <p class="dim">${t("paintOver")}</p>
    <div class="mask-board">
      <img src=${url} alt=""
        onLoad=${(event) => setShape({ width: event.target.naturalWidth, height: event.target.naturalHeight })} />
      ${
        shape &&
        html`<canvas ref=${canvas} tabindex="0" role="img" width=${shape.width} height=${shape.height}
          aria-label=${t("paintKeys")} onKeyDown=${press}
        onPointerDown=${down} onPointerMove=${move} onPointerUp=${() => {
          stroke.current = null;
        }}
          onPointerCancel=${() => {
            stroke.current = null;
          }}></canvas>`
      }
    </div>
    ${children}
    <div class="row">
      <label class="inline">
        ${t("brush")} <input type="range" min="8" max="160" value=${size}
          onInput=${(event) => setSize(Number(event.target.value))} /></label>
      <button type="button" class="button quiet" disabled=${!marked}
        onClick=${() => {
          strokes.current = strokes.current.slice(0, -1);
          draw();
        }}>${t("undo")}</button>
      <button type="button" class="button quiet" onClick=${() => {
        inverted.current = !inverted.current;
        draw();
      }}>
        ${t("invert")}</button>
      <button type="button" class="button quiet" disabled=${!marked}
        onClick=${() => {
          strokes.current = [];
          inverted.current = false;
          draw();
        }}>${t("clear")}</button>
      <span class="space"></span>
      <button type="button" class="button" disabled=${!marked} onClick=${finish}>${t("finish")}</button>
    </div>
  <//>`;
}
