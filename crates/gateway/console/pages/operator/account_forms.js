// What operators do with an account, on the list of accounts and on the page of one: limits, keys, quota, suspending.
import { html, useEffect, useState } from "../../lib.js";
import { given, t } from "../../words.js";
import { get, patch, post, put, remove, visit } from "../../api.js";
import { go } from "../../route.js";
import { when } from "../../show.js";
import { bodyOf } from "../../catalogue.js";
import { Ask } from "../../parts/ask.js";
import { Dialog } from "../../parts/dialog.js";
import { givesText } from "../../parts/plan.js";
import { SettingsFields, described } from "../../parts/settings.js";
import { Table, Time } from "../../parts/table.js";

/**
 * Everything that may be changed about an account, from the service's own description: what is added there appears
 * here.
 * @param {{ row: Wire.Account, close: () => void, saved: () => void }} given
 */
export function Limits({ row, close, saved }) {
  const [fields, setFields] = useState(/** @type {Setting[] | null} */ (null));
  const [value, setValue] = useState(/** @type {Values} */ (row));
  /** @type {Values} */
  const before = row;
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const groups = get("/admin/v1/groups").then(
      ({ data }) => data.map((one) => one.name),
      () => [],
    );
    const chosen = (/** @type {string[]} */ names) => (/** @type {Setting} */ field) =>
      field.name === "group" && names.length ? { ...field, kind: "choice", options: names } : field;
    Promise.all([bodyOf("admin.accounts.change"), groups]).then(
      ([schema, names]) =>
        setFields(
          described(schema)
            .filter((field) => !["disabled", "notes"].includes(field.name))
            .map(chosen(names)),
        ),
      (error) => setProblem(error.message),
    );
  }, []);
  const submit = (/** @type {On} */ event) => {
    event.preventDefault();
    const changed = (fields || [])
      .map((field) => field.name)
      .filter((name) => value[name] !== undefined && value[name] !== before[name]);
    patch(`/admin/v1/accounts/${row.id}`, Object.fromEntries(changed.map((name) => [name, value[name]]))).then(
      () => {
        saved();
        close();
      },
      (error) => setProblem(error.message),
    );
  };
  return html`<${Dialog} close=${close} label=${t("limits")} kind="wide-dialog">
    <h2 class="break">${t("limitsOf", row.email)}</h2>
    <form onSubmit=${submit}>
      ${
        fields &&
        html`<${SettingsFields} fields=${fields} value=${value} change=${setValue} prefix="limit"
          unset=${t("asItIs")} />`
      }
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      <div class="row"><span class="space"></span><button type="button" class="button quiet" onClick=${close}>
        ${t("leave")}</button><button class="button" disabled=${!fields}>${t("save")}</button></div></form><//>`;
}

/**
 * The keys of an account, which an operator may add to and revoke. `tell` gets the secret of a new one.
 * @param {{ row: Wire.Account, may: boolean, tell: (secret: string) => void }} given
 */
export function AccountKeys({ row, may, tell }) {
  const [keys, setKeys] = useState(/** @type {Wire.Key[] | null} */ (null));
  const [problem, setProblem] = useState("");
  const [revoking, setRevoking] = useState(/** @type {Wire.Key | null} */ (null));
  const base = `/admin/v1/accounts/${row.id}/keys`;
  const read = () =>
    get(base).then(
      ({ data }) => setKeys(data),
      (error) => setProblem(error.message),
    );
  useEffect(() => {
    read();
  }, [row.id]);
  const issue = () =>
    post(base, { name: t("byOperator") }).then(
      ({ data }) => {
        tell(data.api_key);
        read();
      },
      (error) => setProblem(error.message),
    );
  return html`<section class="card flush"><header class="inner"><h2>${t("keys")}</h2>
      ${may && html`<button type="button" class="button quiet" onClick=${issue}>${t("newKey")}</button>`}</header>
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      keys &&
      html`<${Table} caption=${t("keys")} rows=${keys} columns=${
        /** @type {Column<Wire.Key>[]} */ ([
          {
            title: t("name"),
            show: (one) => html`${given(one.name) || "–"} <span class="dim code">${one.prefix}…</span>`,
          },
          {
            title: t("scopes"),
            show: (one) =>
              [one.scopes]
                .flat()
                .map((scope) => t(`scope.${scope}`))
                .join(", "),
          },
          { title: t("lastUsed"), show: (one) => html`<${Time} at=${one.lastUsedAt} />` },
          {
            title: "",
            show: (one) =>
              may &&
              html`<button type="button" class="button quiet danger" onClick=${() => setRevoking(one)}>
              ${t("revoke")}</button>`,
          },
        ])
      } />`
    }
    ${
      revoking &&
      html`<${Ask} title=${t("revokeTitle", revoking.name || revoking.prefix)} text=${t("revokeText")}
      action=${t("revoke")} danger=${true} fields=${[]} close=${() => setRevoking(null)}
      act=${() => remove(`${base}/${revoking.id}`).then(read)} />`
    }</section>`;
}

/** Looks at an account with its own eyes. @param {Wire.Account} row @param {(who: Runs) => void} enter */
export const look = (row, enter) =>
  visit(row.id).then((now) => {
    enter(now);
    go("library");
  });

/**
 * What is asked before something is done; `done` is called after it, `tell` gets the secret of a first key.
 * @param {{ done: () => void, tell: (secret: string) => void }} given
 */
export function asksOf({ done, tell }) {
  const then = (/** @type {(given: Values) => unknown} */ work) => async (/** @type {Values} */ given) => {
    await work(given);
    done();
  };
  return {
    create: () => ({
      title: t("newAccount"),
      action: t("newAccount"),
      fields: [
        { name: "email", label: t("email"), type: "email", required: true },
        { name: "balance", label: t("Quota"), type: "number", value: 0 },
      ],
      act: then(async (given) => {
        const { data } = await post("/admin/v1/accounts", given);
        tell(data.api_key);
      }),
    }),
    credit: (/** @type {Wire.Account} */ row) => {
      const key = crypto.randomUUID();
      return {
        title: t("creditTo", row.email),
        action: t("credit"),
        text: t("creditText"),
        fields: [
          { name: "amount", label: t("amount"), type: "number", required: true },
          { name: "reason", label: t("reason"), required: true, placeholder: t("reasonHint") },
          { name: "expires", label: t("creditEnd"), type: "date", hint: t("creditEndHint") },
        ],
        act: then((given) => post(`/admin/v1/accounts/${row.id}/credit`, { ...given, idempotency_key: key })),
      };
    },
    notes: (/** @type {Wire.Account} */ row) => ({
      title: t("notesOf", row.email),
      text: t("notesText"),
      action: t("save"),
      // What is only blank is how the service is told that there are none any more.
      fields: [{ name: "notes", label: t("notes"), type: "long", prose: true, value: row.notes || "", clears: " " }],
      act: then((given) => patch(`/admin/v1/accounts/${row.id}`, given)),
    }),
    /** Which of the plans that there are. @param {Wire.Account} row @param {Wire.AccountPlan} now */
    plan: async (row, now) => {
      const { data } = await get("/admin/v1/plans");
      const others = data.filter((one) => one.name !== now.plan);
      const title = t(now.plan ? "planChangeOf" : "planOf", row.email);
      if (!others.length)
        return { title, text: t("noOtherPlans"), action: t("plans"), fields: [], act: () => go("operator/plans") };
      const gives = new Map(others.map((one) => [one.name, givesText(one)]));
      // One that runs already says when another one can begin.
      const from = {
        name: "from",
        label: t("planFrom"),
        type: "date",
        hint: t(now.plan ? "planAsSaid" : "planAtOnce"),
      };
      return {
        title,
        text: t(now.from ? "planOfText" : "planGiveText"),
        action: t(now.plan ? "planChange" : "planGive"),
        fields: [
          {
            name: "plan",
            label: t("plan"),
            required: true,
            options: others.map((one) => one.name),
            names: (/** @type {string} */ one) => `${one} · ${gives.get(one)}`,
          },
          ...(now.from ? [] : [from]),
        ],
        act: then((given) => put(`/admin/v1/accounts/${row.id}/plan`, given)),
      };
    },
    endPlan: (/** @type {Wire.Account} */ row, /** @type {Wire.AccountPlan} */ now) => ({
      title: t("planEndTitle", row.email),
      text: now.from ? t("planEndText", when(now.until)) : t("planNotBegun"),
      action: t("planEnd"),
      danger: true,
      fields: [],
      act: then(() => remove(`/admin/v1/accounts/${row.id}/plan`)),
    }),
    suspend: (/** @type {Wire.Account} */ row) => ({
      title: row.disabled ? t("enableTitle", row.email) : t("disableTitle", row.email),
      text: row.disabled ? t("enableText") : t("disableText"),
      action: row.disabled ? t("enable") : t("disable"),
      danger: !row.disabled,
      fields: [],
      act: then(() => patch(`/admin/v1/accounts/${row.id}`, { disabled: !row.disabled })),
    }),
  };
}
