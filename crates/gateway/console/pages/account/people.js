// The members of the account, and who spends what of it.
import { html } from "../../lib.js";
import { Members } from "../../parts/members.js";

/** @param {{ who: Owner }} given */
export const People = ({ who }) =>
  html`<${Members} base="/account/v1" may=${!who.looking} own=${who.person?.id || null} />`;
