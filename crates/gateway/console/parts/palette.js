// One field that finds pages, settings, ways to make something, and jobs by their words or id.
import { html, useEffect, useState } from "../lib.js";
import { local, t } from "../words.js";
import { deed, words, when } from "../show.js";
import { get } from "../api.js";
import { go } from "../route.js";
import { catalogue } from "../catalogue.js";
import { Dialog } from "./dialog.js";
import { ROOMS, OPERATOR_PAGES } from "./rooms.js";

/** Parts of the account page that people look for by name. */
const SETTINGS = ["usage", "keys", "ledger", "callbacks", "custody"];
const MOST = 12;

/** @param {{ who: Who, close: () => void }} given */
export function Palette({ who, close }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [jobs, setJobs] = useState({ wanted: "", rows: /** @type {(Job | Wire.ServedJob)[]} */ ([]) });
  const [operations, setOperations] = useState(/** @type {Operation[]} */ ([]));
  const [run, setRun] = useState({ wanted: "", rows: /** @type {Wire.Account[]} */ ([]) });
  const [backends, setBackends] = useState(/** @type {Wire.Backend[]} */ ([]));
  const runs = who.operator && !who.looking;
  const wanted = text.trim().toLowerCase();
  useEffect(() => {
    if (who.account)
      catalogue().then(
        (all) => setOperations(all.operations),
        () => {},
      );
  }, []);
  useEffect(() => {
    if (runs)
      get("/admin/v1/backends").then(
        ({ data }) => setBackends(data),
        () => {},
      );
  }, []);
  useEffect(() => {
    if (!runs || !wanted) return undefined;
    let stale = false;
    const timer = setTimeout(() => {
      get(`/admin/v1/accounts?limit=5&q=${encodeURIComponent(wanted)}`).then(
        ({ data }) => {
          if (!stale) setRun({ wanted, rows: data });
        },
        () => {},
      );
    }, 160);
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [wanted]);
  useEffect(() => {
    let stale = false;
    const path = who.account ? "/jobs/v1" : "/admin/v1/jobs";
    const timer = setTimeout(
      () => {
        get(`${path}?limit=8${wanted ? `&q=${encodeURIComponent(wanted)}` : ""}`).then(
          (page) => {
            if (!stale) setJobs({ wanted, rows: page.data });
          },
          () => {},
        );
      },
      wanted ? 160 : 0,
    );
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [wanted]);
  const pages = [
    ...(who.account
      ? ROOMS.filter((room) => !who.looking || room.page !== "create").map((room) => ({
          text: t(room.page),
          go: () => go(room.page),
        }))
      : []),
    ...(who.account
      ? SETTINGS.map((part) => ({ text: `${t("account")}: ${t(part)}`, go: () => go("account", { part }) }))
      : []),
    ...(runs
      ? OPERATOR_PAGES.map((room) => ({
          text: `${t("operator")}: ${t(room.page)}`,
          go: () => go(`operator/${room.page}`),
        }))
      : []),
    {
      text: t("docs"),
      go: () => {
        location.href = "/docs";
      },
    },
  ];
  const made = operations
    .filter((one) => !one.follows)
    .map((one) => ({
      text: `${t("create")}: ${local(one.family)}, ${deed(one.name)}`,
      more: local(one.summary),
      go: () => go("create", { op: one.name }),
    }));
  const past = jobs.rows.map((job) => ({
    text: words(job),
    hint: when(job.createdAt),
    go: () => go(`job/${job.jobId}`),
  }));
  const known = run.rows.map((row) => ({
    text: row.email,
    hint: t("account"),
    go: () => go(`operator/accounts/${encodeURIComponent(row.id)}`),
  }));
  const asked = backends.map((row) => ({
    text: row.name,
    hint: t("backend"),
    go: () => go(`operator/backends/${encodeURIComponent(row.id)}`),
  }));
  const fits = (/** @type {Place} */ one) => !wanted || `${one.text} ${one.more || ""}`.toLowerCase().includes(wanted);
  /** @type {Place[]} */
  const found = [
    ...pages.filter(fits),
    ...(wanted ? [...known, ...asked, ...made].filter(fits) : []),
    ...(jobs.wanted === wanted ? past : past.filter(fits)),
  ].slice(0, MOST);
  const choose = (/** @type {Place} */ one) => {
    if (one) {
      close();
      one.go();
    }
  };
  const press = (/** @type {On} */ event) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      setAt(Math.min(at + 1, found.length - 1));
    } else if (event.key === "ArrowUp") {
      event.preventDefault();
      setAt(Math.max(at - 1, 0));
    } else if (event.key === "Enter") {
      event.preventDefault();
      choose(found[at]);
    }
  };
  return html`<${Dialog} close=${close} label=${t("search")} kind="palette">
    <input type="search" aria-label=${t("search")} placeholder=${t("search")} value=${text} autofocus
      role="combobox" aria-expanded="true" aria-controls="found"
        aria-activedescendant=${found.length ? `found-${at}` : undefined}
      onInput=${(event) => {
        setText(event.target.value);
        setAt(0);
      }} onKeyDown=${press} />
    <ul id="found" role="listbox" aria-label=${t("search")}>
      ${found.map(
        (one, place) => html`<li id=${`found-${place}`} role="option" aria-selected=${place === at}
        onClick=${() => choose(one)} onPointerMove=${() => setAt(place)}><span>${one.text}</span>
          <span class="dim">${one.hint || ""}</span></li>`,
      )}
      ${!found.length && html`<li class="dim" role="option" aria-selected="false">${t("nothingFound")}</li>`}
    </ul>
  <//>`;
}
