// Keys: what each may do and spend, until when, those below it, new secrets, revoking one, and what was done with them.
import { html, useEffect, useState } from "../../lib.js";
import { given, t } from "../../words.js";
import { get, patch, post, remove } from "../../api.js";
import { Ask } from "../../parts/ask.js";
import { RowDeeds } from "../../parts/row_menu.js";
import { Secret } from "../../parts/secret.js";
import { Paged, Table, Time, usePages } from "../../parts/table.js";
import { spending, termFields, termsOf } from "../../parts/terms.js";
import { act } from "../../show.js";

const SCOPES = ["submit", "read", "keys", "account"];
/** What a member who is no owner may give a key. */
const OWN_SCOPES = ["submit", "read", "keys"];

/** Keys with those below each right behind it, and how deep each is. @param {Wire.Key[]} keys */
function inLine(keys) {
  const known = new Set(keys.map((one) => one.id));
  /** @param {string} id @param {number} depth @returns {(Wire.Key & { depth: number })[]} */
  const below = (id, depth) =>
    keys.filter((one) => one.parentId === id).flatMap((one) => [{ ...one, depth }, ...below(one.id, depth + 1)]);
  const first = keys.filter((one) => !known.has(one.parentId || ""));
  return first.flatMap((one) => [{ ...one, depth: 0 }, ...below(one.id, 1)]);
}

/** @param {{ who: Owner }} given */
export function Keys({ who }) {
  const scopes = who.person?.role === "member" ? OWN_SCOPES : SCOPES;
  const isOwner = who.person?.role === "owner";
  const [members, setMembers] = useState(/** @type {Wire.Member[]} */ ([]));
  const [keys, setKeys] = useState(/** @type {Wire.Key[] | null} */ (null));
  const [asking, setAsking] = useState(/** @type {Asking | null} */ (null));
  const [secret, setSecret] = useState("");
  const [problem, setProblem] = useState("");
  const read = () =>
    get("/account/v1/keys").then(
      ({ data }) => setKeys(data),
      (error) => setProblem(error.message),
    );
  useEffect(() => {
    read();
    if (isOwner)
      get("/account/v1/members").then(
        ({ data }) => setMembers(data),
        () => {},
      );
  }, []);
  const memberName = (/** @type {string | undefined} */ id) => {
    const member = members.find((one) => one.id === id);
    return member ? member.name || member.email : "";
  };
  /** @type {Asking} */
  const issue = {
    title: t("newKey"),
    action: t("newKey"),
    fields: [
      { name: "name", label: t("name"), placeholder: t("keyNameHint") },
      {
        name: "scopes",
        label: t("scopes"),
        type: "checks",
        options: scopes,
        value: scopes,
        names: (one) => t(`scope.${one}`),
      },
      { name: "expiresAt", label: t("expires"), type: "date", hint: t("expiresHint") },
      ...(isOwner && members.length > 1
        ? [
            {
              name: "memberId",
              label: t("forMember"),
              options: members.map((one) => one.id),
              names: memberName,
              hint: t("forMemberHint"),
            },
          ]
        : []),
    ],
    act: async (given) => {
      // What a member may do is for the service to say: all that was left is all of it.
      const { scopes: chosen, ...rest } = given;
      const wish = given.memberId && chosen.length === scopes.length ? rest : given;
      const { data } = await post("/account/v1/keys", wish);
      setSecret(data.api_key);
      read();
    },
  };
  const revoke = (/** @type {Wire.Key} */ row) => ({
    title: t("revokeTitle", row.name || row.prefix),
    text: t("revokeText"),
    action: t("revoke"),
    danger: true,
    fields: [],
    act: async () => {
      await remove(`/account/v1/keys/${row.id}`);
      read();
    },
  });
  /** @param {Wire.Key} row @returns {Asking} */
  const limit = (row) => ({
    title: t("limitsTitle", row.name || row.prefix),
    text: t("limitsText"),
    action: t("save"),
    fields: [...termFields(row), { name: "note", label: t("note"), value: row.note }],
    act: async (given) => {
      await patch(`/account/v1/keys/${row.id}`, { ...termsOf(given), note: given.note ?? null });
      read();
    },
  });
  /** @param {Wire.Key} row @returns {Asking} */
  const rotate = (row) => ({
    title: t("newSecretTitle", row.name || row.prefix),
    text: t("newSecretText"),
    action: t("newSecret"),
    fields: [{ name: "overlapSeconds", label: t("overlap"), type: "number", value: 3600 }],
    act: async (given) => {
      const { data } = await post(`/account/v1/keys/${row.id}/rotate`, given);
      setSecret(data.api_key);
      read();
    },
  });
  return html`<section class="card flush"><header class="inner"><h2>${t("keys")}</h2>
    <button class="button" onClick=${() => setAsking(issue)}>${t("newKey")}</button></header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      keys &&
      html`<${Table} caption=${t("keys")} rows=${inLine(keys)} columns=${
        /** @type {Column<Wire.Key & { depth: number }>[]} */ ([
          {
            title: t("name"),
            show: (row) => html`<b>${"↳ ".repeat(row.depth)}${given(row.name) || "–"}</b> <span class="dim code block">
          ${row.prefix}…</span>${
            memberName(row.memberId) && html`<span class="dim block break">${memberName(row.memberId)}</span>`
          }${row.note && html`<span class="dim block" dir="auto">${row.note}</span>`}`,
          },
          { title: t("limits"), show: (row) => spending(row) || html`<span class="dim">${t("noLimits")}</span>` },
          {
            title: t("scopes"),
            show: (row) =>
              [row.scopes]
                .flat()
                .map((one) => t(`scope.${one}`))
                .join(", "),
          },
          {
            title: t("lastUsed"),
            show: (row) =>
              row.lastUsedAt ? html`<${Time} at=${row.lastUsedAt} />` : html`<span class="dim">${t("never")}</span>`,
          },
          {
            title: t("expires"),
            show: (row) =>
              row.expiresAt ? html`<${Time} at=${row.expiresAt} />` : html`<span class="dim">${t("never")}</span>`,
          },
          {
            title: "",
            show: (row) =>
              html`<${RowDeeds} name=${row.name || row.prefix} items=${[
                { text: t("newSecret"), act: () => setAsking(rotate(row)) },
                { text: t("revoke"), danger: true, act: () => setAsking(revoke(row)) },
              ]}><button class="button quiet" onClick=${() => setAsking(limit(row))}>${t("limits")}</button><//>`,
          },
        ])
      } />`
    }
    ${asking && html`<${Ask} ...${asking} close=${() => setAsking(null)} />`}
    ${secret && html`<${Secret} title=${t("newKey")} value=${secret} close=${() => setSecret("")} />`}</section>
      ${(!who.person || isOwner) && html`<${Acts} />`}`;
}

/** What callers did to the account itself. */
function Acts() {
  const pages = usePages("/account/v1/acts", 10);
  return html`<section class="card flush"><header class="inner"><h2>${t("acts")}</h2></header>
    <${Paged} pages=${pages} caption=${t("acts")} empty=${t("noActs")} columns=${
      /** @type {Column<Wire.AccountAct>[]} */ ([
        { title: t("when"), show: (row) => html`<${Time} at=${row.time} />` },
        { title: t("what"), show: (row) => html`<span class="id" title=${row.action}>${act(row.action)}</span>` },
        { title: t("target"), show: (row) => html`<span class="code id">${row.target}</span>` },
      ])
    } /></section>`;
}
