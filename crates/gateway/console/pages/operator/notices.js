// What operators are told before it hurts, and where.
import { html } from "../../lib.js";
import { t } from "../../words.js";
import { Notices } from "../../parts/notices.js";

/** @param {{ who: Runs }} given */
export const OperatorNotices = ({ who }) => html`<header class="head"><div><h1>${t("notices")}</h1>
    <p class="dim">${t("noticesText")}</p></div></header>
  <${Notices} base="/admin/v1/notices" own=${false} may=${who.operator.role !== "viewer"} />`;
