// Says to those who cannot see the page that a job has ended, once for each job that was seen at work.
import { html, useEffect, useRef, useState } from "../lib.js";
import { t } from "../words.js";
import { deed, isFinal, why } from "../show.js";
import { onJobs } from "../events.js";

export function Finished() {
  const [text, setText] = useState("");
  const working = useRef(/** @type {Set<string>} */ (new Set()));
  useEffect(
    () =>
      onJobs((job) => {
        if (!isFinal(job)) {
          working.current.add(job.jobId);
          return;
        }
        if (!working.current.delete(job.jobId)) return;
        const name = deed(job.operation);
        setText(job.status === "SUCCESS" ? t("hasFinished", name) : `${t("hasFailed", name)} ${why(job.message)}`);
      }),
    [],
  );
  return html`<p class="visually-hidden finished" role="status" aria-live="polite">${text}</p>`;
}
