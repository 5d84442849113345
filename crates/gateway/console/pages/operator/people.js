// People as operators see them: who signs in, what they are members of, who is invited to open an account.
import { html, useEffect, useState } from "../../lib.js";
import { language, t } from "../../words.js";
import { get, post, remove } from "../../api.js";
import { href } from "../../route.js";
import { Ask } from "../../parts/ask.js";
import { Dialog } from "../../parts/dialog.js";
import { RowDeeds } from "../../parts/row_menu.js";
import { Paged, Table, Time, usePages } from "../../parts/table.js";

/** The accounts of a person. @param {{ id: string, close: () => void }} given */
function Accounts({ id, close }) {
  const [person, setPerson] = useState(/** @type {Wire.PersonAccounts | null} */ (null));
  const [problem, setProblem] = useState("");
  useEffect(() => {
    get(`/admin/v1/people/${id}`).then(
      ({ data }) => setPerson(data),
      (error) => setProblem(error.message),
    );
  }, [id]);
  return html`<${Dialog} close=${close} label=${t("accounts")}>
    <h2 class="break">${person?.email || t("accounts")}</h2>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      person &&
      html`<${Table} caption=${t("accounts")} rows=${person.accounts} empty=${t("noAccountYet")} columns=${
        /** @type {Column<Wire.Membership>[]} */ ([
          {
            title: t("account"),
            show: (row) => html`<a class="break" href=${href(`operator/accounts/${row.id}`)}>${row.email}</a>`,
          },
          { title: t("role"), show: (row) => t(`memberRole.${row.role}`) },
        ])
      } />`
    }
    <div class="row"><span class="space"></span><button class="button" onClick=${close}>${t("close")}</button></div>
  <//>`;
}

/** @param {{ may: boolean, setAsking: (asking: Asking | null) => void }} given */
function SignUps({ may, setAsking }) {
  const [rows, setRows] = useState(/** @type {Wire.Invitation[]} */ ([]));
  const [problem, setProblem] = useState("");
  const failed = (/** @type {Error} */ error) => setProblem(error.message);
  const read = () => get("/admin/v1/invitations").then(({ data }) => setRows(data), failed);
  useEffect(() => {
    read();
  }, []);
  /** @type {Asking} */
  const invite = {
    title: t("inviteToSignUp"),
    text: t("inviteToSignUpText"),
    action: t("invite"),
    fields: [
      { name: "email", label: t("emailAddress"), type: "email", required: true, placeholder: "ada@example.com" },
    ],
    act: async (given) => {
      await post("/admin/v1/invitations", { ...given, language });
      read();
    },
  };
  const withdraw = (/** @type {Wire.Invitation} */ row) => remove(`/admin/v1/invitations/${row.id}`).then(read, failed);
  return html`<section class="card flush"><header class="inner"><h2>${t("signUpInvitations")}</h2>
      ${may && html`<button class="button quiet" onClick=${() => setAsking(invite)}>${t("invite")}</button>`}</header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <${Table} caption=${t("signUpInvitations")} rows=${rows} columns=${
      /** @type {Column<Wire.Invitation>[]} */ ([
        { title: t("emailAddress"), show: (row) => html`<b class="break">${row.email}</b>` },
        { title: t("expires"), show: (row) => html`<${Time} at=${row.expiresAt} />` },
        {
          title: "",
          show: (row) =>
            may && html`<button class="button quiet danger" onClick=${() => withdraw(row)}>${t("withdraw")}</button>`,
        },
      ])
    } /></section>`;
}

/** @param {{ who: Runs }} given */
export function PeopleList({ who }) {
  const [words, setWords] = useState("");
  const [shown, setShown] = useState("");
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const may = who.operator.role !== "viewer";
  const pages = usePages(`/admin/v1/people${words ? `?q=${encodeURIComponent(words)}` : ""}`);
  /** @param {Wire.Person} row @returns {Asking} */
  const dismiss = (row) => ({
    title: t("deletePersonTitle", row.email),
    text: t("deletePersonText"),
    action: t("delete"),
    danger: true,
    fields: [],
    act: async () => {
      await remove(`/admin/v1/people/${row.id}`);
      pages.again();
    },
  });
  return html`<header class="head"><div><h1>${t("people")}</h1><p class="dim">${t("peopleText")}</p></div></header>
    <div class="filters"><input type="search" value=${words} placeholder=${t("findPerson")}
      aria-label=${t("findPerson")}
      onInput=${(event) => setWords(event.target.value.trim())} /></div>
    <section class="card flush"><${Paged} pages=${pages} caption=${t("people")} empty=${t("noPeople")} columns=${
      /** @type {Column<Wire.Person>[]} */ ([
        {
          title: t("name"),
          show: (row) => html`<b class="break">${row.name || row.email}</b>
            ${row.name && html`<span class="dim block break">${row.email}</span>`}
            ${!row.emailVerified ? html` <span class="tag">${t("unverified")}</span>` : ""}`,
        },
        { title: t("since"), show: (row) => html`<${Time} at=${row.createdAt} />` },
        {
          title: t("lastSeen"),
          show: (row) =>
            row.seenAt ? html`<${Time} at=${row.seenAt} />` : html`<span class="dim">${t("never")}</span>`,
        },
        {
          title: "",
          show: (row) =>
            html`<${RowDeeds} name=${row.email} items=${[
              may && { text: t("delete"), danger: true, act: () => setAsking(dismiss(row)) },
            ]}><button class="button quiet" onClick=${() => setShown(row.id)}>${t("accounts")}</button><//>`,
        },
      ])
    } /></section>
    <${SignUps} may=${may} setAsking=${setAsking} />
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}
    ${shown && html`<${Accounts} id=${shown} close=${() => setShown("")} />`}`;
}
