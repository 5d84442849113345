// The members of an account with what they may spend, and who is invited: for its owners, and for operators.
import { html, useEffect, useState } from "../lib.js";
import { language, t } from "../words.js";
import { get, patch, post, remove } from "../api.js";
import { Ask } from "./ask.js";
import { RowDeeds } from "./row_menu.js";
import { Table, Time } from "./table.js";
import { spending, termFields, termsOf } from "./terms.js";

export const ROLES = ["owner", "member", "viewer"];

/** What a form asks of whoever is to be invited. @param {string} path @param {() => void} done @returns {Asking} */
export const inviting = (path, done) => ({
  title: t("invite"),
  text: t("inviteText"),
  action: t("invite"),
  fields: [
    { name: "email", label: t("emailAddress"), type: "email", required: true, placeholder: "ada@example.com" },
    {
      name: "role",
      label: t("role"),
      options: ROLES,
      value: "member",
      required: true,
      names: (one) => t(`memberRole.${one}`),
    },
  ],
  act: async (given) => {
    await post(path, { ...given, language });
    done();
  },
});

/**
 * `base` is the account in the addresses of the service, `may` whether whoever looks may change anything.
 * @param {{ base: string, may: boolean, own?: string | null }} given
 */
export function Members({ base, may, own = null }) {
  const [members, setMembers] = useState(/** @type {Wire.Member[] | null} */ (null));
  const [invited, setInvited] = useState(/** @type {Wire.Invitation[]} */ ([]));
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [problem, setProblem] = useState("");
  const failed = (/** @type {Error} */ error) => setProblem(error.message);
  const read = () => {
    get(`${base}/members`).then(({ data }) => setMembers(data), failed);
    get(`${base}/invitations`).then(({ data }) => setInvited(data), failed);
  };
  useEffect(() => {
    read();
  }, [base]);
  /** @param {Wire.Member} row @returns {Asking} */
  const change = (row) => ({
    title: t("memberTitle", row.name || row.email),
    text: t("memberText"),
    action: t("save"),
    fields: [
      {
        name: "role",
        label: t("role"),
        options: ROLES,
        value: row.role,
        required: true,
        names: (one) => t(`memberRole.${one}`),
      },
      ...termFields(row),
    ],
    act: async (given) => {
      await patch(`${base}/members/${row.id}`, { ...termsOf(given), role: given.role });
      read();
    },
  });
  /** @param {Wire.Member} row @returns {Asking} */
  const dismiss = (row) => ({
    title: t("removeMemberTitle", row.name || row.email),
    text: t("removeMemberText"),
    action: t("remove"),
    danger: true,
    fields: [],
    act: async () => {
      await remove(`${base}/members/${row.id}`);
      read();
    },
  });
  const signOut = (/** @type {Wire.Member} */ row) => remove(`${base}/members/${row.id}/sessions`).then(read, failed);
  const withdraw = (/** @type {Wire.Invitation} */ row) => remove(`${base}/invitations/${row.id}`).then(read, failed);
  return html`<section class="card flush"><header class="inner"><h2>${t("members")}</h2>
    ${
      may &&
      html`<button class="button" onClick=${() => setAsking(inviting(`${base}/invitations`, read))}>
        ${t("invite")}</button>`
    }</header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      members &&
      html`<${Table} caption=${t("members")} rows=${members} empty=${t("noMembers")} columns=${
        /** @type {Column<Wire.Member>[]} */ ([
          {
            title: t("name"),
            show: (row) => html`<b class="break">${row.name || row.email}</b>
              ${row.name && html`<span class="dim block break">${row.email}</span>`}`,
          },
          {
            title: t("role"),
            show: (row) => html`${t(`memberRole.${row.role}`)}
              ${row.personId === own ? html` <span class="tag">${t("you")}</span>` : ""}`,
          },
          { title: t("limits"), show: (row) => spending(row) || html`<span class="dim">${t("noLimits")}</span>` },
          {
            title: t("lastSeen"),
            show: (row) =>
              row.seenAt ? html`<${Time} at=${row.seenAt} />` : html`<span class="dim">${t("never")}</span>`,
          },
          {
            title: "",
            show: (row) =>
              may &&
              html`<${RowDeeds} name=${row.name || row.email} items=${[
                base.startsWith("/account/") && { text: t("signOutMember"), act: () => signOut(row) },
                { text: t("remove"), danger: true, act: () => setAsking(dismiss(row)) },
              ]}><button class="button quiet" onClick=${() => setAsking(change(row))}>${t("change")}</button><//>`,
          },
        ])
      } />`
    }</section>
    ${
      invited.length > 0 &&
      html`<section class="card flush"><header class="inner"><h2>${t("invitations")}</h2></header>
      <${Table} caption=${t("invitations")} rows=${invited} columns=${
        /** @type {Column<Wire.Invitation>[]} */ ([
          { title: t("emailAddress"), show: (row) => html`<b class="break">${row.email}</b>` },
          { title: t("role"), show: (row) => t(`memberRole.${row.role}`) },
          { title: t("expires"), show: (row) => html`<${Time} at=${row.expiresAt} />` },
          {
            title: "",
            show: (row) =>
              may && html`<button class="button quiet danger" onClick=${() => withdraw(row)}>${t("withdraw")}</button>`,
          },
        ])
      } /></section>`
    }
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}`;
}
