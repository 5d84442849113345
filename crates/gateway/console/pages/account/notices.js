// What the account is told before it hurts, and where.
import { html } from "../../lib.js";
import { Notices } from "../../parts/notices.js";

/** @param {{ who: Owner }} given */
export const AccountNotices = ({ who }) =>
  html`<${Notices} base="/account/v1/notices" own=${true} may=${!who.looking} />`;
