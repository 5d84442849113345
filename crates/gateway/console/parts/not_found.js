// An address that is no page of the console.
import { html } from "../lib.js";
import { t } from "../words.js";
import { href } from "../route.js";

/** @param {{ who: Who }} given */
export const NotFound = ({ who }) => html`<div class="empty"><h1 class="empty-title">${t("noPage")}</h1>
  <p>${t("noPageText")}</p>
  <p><a class="button" href=${href(who.account ? (who.looking ? "library" : "create") : "operator/overview")}>
    ${t("toStart")}</a></p></div>`;
