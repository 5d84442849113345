// A button that copies a text and says that it did.
import { html, useState } from "../lib.js";
import { t } from "../words.js";

/** @param {{ text: string, kind?: string }} given */
export function Copy({ text, kind = "button quiet" }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return html`<button type="button" class=${kind} onClick=${copy}>${copied ? t("copied") : t("copy")}</button>`;
}
