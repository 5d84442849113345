// Everything that can be done with one piece, as a row of buttons: below a picture that is shown large, and on its
// job's page.
import { html, useState } from "../lib.js";
import { t } from "../words.js";
import { Ask } from "./ask.js";
import { DeedButton } from "./deed_button.js";
import { deedsOf } from "./deeds.js";
import { later } from "./later.js";
import { save } from "./quarter.js";
import { useDeedPrices } from "./quote.js";

const Share = later(() => import("./share.js").then((part) => part.Share));
const Repaint = later(() => import("./repaint.js").then((part) => part.Repaint));

/**
 * `leave` is called before another page is gone to.
 * @param {{ all: All, piece: Piece, hands: Hands, balance: number | null, leave?: () => void }} given
 */
export function PieceDeeds({ all, piece, hands, balance, leave = () => {} }) {
  const [painting, setPainting] = useState(false);
  const [sharing, setSharing] = useState(false);
  const [dropping, setDropping] = useState(false);
  const [problem, setProblem] = useState("");
  const leading =
    (/** @type {(...given: any[]) => unknown} */ work) =>
    (/** @type {any[]} */ ...given) => {
      leave();
      return work(...given);
    };
  const own = {
    ...hands,
    prepare: leading(hands.prepare),
    use: leading(hands.use),
    animate: leading(hands.animate),
    repaint: () => setPainting(true),
  };
  const found = deedsOf(all, piece, own);
  const deeds = [
    ...found.own,
    ...found.whole,
    ...found.edges.map((one) => ({ ...one, text: one.title || one.text })),
    ...found.onward,
  ];
  const prices = useDeedPrices(deeds, true);
  return html`<div class="row deeds">
      ${deeds.map(
        (one) => html`<${DeedButton} key=${one.name} deed=${one} price=${prices[one.name]} balance=${balance} />`,
      )}
      <button type="button" class="button quiet"
        onClick=${() => save(piece).catch((error) => setProblem(error.message))}>
        ${t("download")}</button>
      <button type="button" class="button quiet" onClick=${() => setSharing(true)}>${t("share")}</button>
      ${
        hands.drop &&
        html`<button type="button" class="button quiet danger" onClick=${() => setDropping(true)}>
        ${t("delete")}</button>`
      }</div>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      painting &&
      html`<${Repaint} all=${all} piece=${piece} follow=${hands.follow} close=${() => setPainting(false)} />`
    }
    ${sharing && html`<${Share} piece=${piece} close=${() => setSharing(false)} />`}
    ${
      dropping &&
      html`<${Ask} title=${t("deleteTitle")} text=${t("deleteText")} action=${t("delete")} danger=${true}
      fields=${[]} close=${() => setDropping(false)} act=${() => hands.drop?.(piece.job)} />`
    }`;
}
