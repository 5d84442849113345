// The person who is signed in: what they are called, their accounts and invitations, and where they are signed in.
import { html, useEffect, useState } from "../../lib.js";
import { choose, language, LANGUAGES, t } from "../../words.js";
import { chooseAccount, get, patch, post, remove, session } from "../../api.js";
import { Ask } from "../../parts/ask.js";
import { Table, Time } from "../../parts/table.js";

/** What a session was opened with, in words. @param {string} means */
const meansOf = (means) => {
  const [kind, name] = means.split(":");
  return kind === "oidc" ? t("means.oidc", name) : t(`means.${kind}`);
};

/** A browser as its user calls it. @param {string} agent */
function browserOf(agent) {
  const names = ["Edg", "OPR", "Firefox", "Chrome", "Safari"];
  const name = names.find((one) => agent.includes(one));
  const known = { Edg: "Edge", OPR: "Opera" }[name || ""] || name;
  const system = ["Windows", "Android", "iPhone", "iPad", "Mac OS", "Linux"].find((one) => agent.includes(one));
  return [known || agent.split("/")[0] || t("unknownBrowser"), system].filter(Boolean).join(", ");
}

/** @param {{ failed: (error: Error) => void }} given */
function Sessions({ failed }) {
  const [rows, setRows] = useState(/** @type {Wire.PersonSession[]} */ ([]));
  const read = () => get("/account/v1/sessions").then(({ data }) => setRows(data), failed);
  useEffect(() => {
    read();
  }, []);
  const end = (/** @type {Wire.PersonSession} */ row) => remove(`/account/v1/sessions/${row.id}`).then(read, failed);
  return html`<section class="card flush"><header class="inner"><h2>${t("sessions")}</h2></header>
    <${Table} caption=${t("sessions")} rows=${rows} columns=${
      /** @type {Column<Wire.PersonSession>[]} */ ([
        {
          title: t("browser"),
          show: (row) => html`<b title=${row.agent}>${browserOf(row.agent)}</b>
            ${row.current ? html` <span class="tag">${t("thisSession")}</span>` : ""}
            <span class="dim block">${meansOf(row.means)} · <span class="code">${row.network}</span></span>`,
        },
        { title: t("since"), show: (row) => html`<${Time} at=${row.createdAt} />` },
        { title: t("lastUsed"), show: (row) => html`<${Time} at=${row.seenAt} />` },
        {
          title: "",
          show: (row) =>
            !row.current &&
            html`<button class="button quiet danger" onClick=${() => end(row)}>${t("endSession")}
              </button>`,
        },
      ])
    } /></section>`;
}

/** @param {{ who: Who & { person: Wire.SignedInAs }, enter: (who: Who | null) => void }} given */
export function You({ who, enter }) {
  const [me, setMe] = useState(/** @type {Wire.Me | null} */ (null));
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [problem, setProblem] = useState("");
  const failed = (/** @type {Error} */ error) => setProblem(error.message);
  const read = () => get("/auth/v1/me").then(({ data }) => setMe(data), failed);
  useEffect(() => {
    read();
  }, [who.person.accountId]);
  const accept = (/** @type {Wire.OwnInvitation} */ row) =>
    post(`/auth/v1/invitations/${row.id}`)
      .then(() => session())
      .then(enter, failed);
  const decline = (/** @type {Wire.OwnInvitation} */ row) =>
    remove(`/auth/v1/invitations/${row.id}`).then(read, failed);
  const enterAccount = (/** @type {Wire.Membership} */ row) => chooseAccount(row.id).then(enter, failed);
  /** @type {Asking} */
  const rename = {
    title: t("yourName"),
    action: t("save"),
    fields: [
      { name: "name", label: t("name"), value: who.person.name, placeholder: "Ada" },
      {
        name: "language",
        label: t("mailLanguage"),
        options: Object.keys(LANGUAGES),
        value: who.person.language,
        required: true,
        names: (one) => LANGUAGES[one],
      },
    ],
    act: async (given) => {
      await patch("/auth/v1/me", { name: given.name || "", language: given.language });
      enter(await session());
      if (given.language !== language && given.language !== who.person.language) choose(given.language);
    },
  };
  /** @param {Wire.Membership} row @returns {Asking} */
  const leave = (row) => ({
    title: t("leaveTitle", row.email),
    text: t("leaveText"),
    action: t("leaveAccount"),
    danger: true,
    fields: [],
    act: async () => {
      await remove(`/auth/v1/accounts/${row.id}`);
      enter(await session());
    },
  });
  /** @type {Asking} */
  const deleteSelf = {
    title: t("deleteYou"),
    text: t("deleteYouText"),
    action: t("deleteYou"),
    danger: true,
    fields: [],
    act: async () => {
      await remove("/auth/v1/me");
      enter(null);
    },
  };
  return html`${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <section class="card"><header><div><h2 class="break">${who.person.name || who.person.email}</h2>
      <p class="dim break">${who.person.email} · ${LANGUAGES[who.person.language]}</p></div>
      <span class="actions"><button class="button quiet" onClick=${() => setAsking(rename)}>${t("change")}</button>
        <button class="button quiet danger" onClick=${() => setAsking(deleteSelf)}>${t("deleteYou")}</button></span>
    </header></section>
    ${
      me &&
      me.invitations.length > 0 &&
      html`<section class="card flush"><header class="inner"><h2>${t("yourInvitations")}</h2></header>
      <${Table} caption=${t("yourInvitations")} rows=${me.invitations} columns=${
        /** @type {Column<Wire.OwnInvitation>[]} */ ([
          { title: t("account"), show: (row) => html`<b class="break">${row.account}</b>` },
          { title: t("role"), show: (row) => t(`memberRole.${row.role}`) },
          { title: t("expires"), show: (row) => html`<${Time} at=${row.expiresAt} />` },
          {
            title: "",
            show: (row) => html`<span class="actions">
              <button class="button" onClick=${() => accept(row)}>${t("accept")}</button>
              <button class="button quiet" onClick=${() => decline(row)}>${t("decline")}</button></span>`,
          },
        ])
      } /></section>`
    }
    ${
      me &&
      html`<section class="card flush"><header class="inner"><h2>${t("yourAccounts")}</h2></header>
      <${Table} caption=${t("yourAccounts")} rows=${me.accounts} empty=${t("noAccountYet")} columns=${
        /** @type {Column<Wire.Membership>[]} */ ([
          {
            title: t("account"),
            show: (row) => html`<b class="break">${row.email}</b>
              ${row.id === who.person.accountId ? html` <span class="tag">${t("thisSession")}</span>` : ""}`,
          },
          { title: t("role"), show: (row) => t(`memberRole.${row.role}`) },
          {
            title: "",
            show: (row) => html`<span class="actions">
              ${
                row.id !== who.person.accountId &&
                html`<button class="button quiet" onClick=${() => enterAccount(row)}>${t("enterAccount")}</button>`
              }
              <button class="button quiet danger" onClick=${() => setAsking(leave(row))}>${t("leaveAccount")}</button>
                </span>`,
          },
        ])
      } /></section>`
    }
    <${Sessions} failed=${failed} />
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}`;
}
