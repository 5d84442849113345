// Statements, exports and the archive of everything about the account.
import { html } from "../../lib.js";
import { t } from "../../words.js";
import { Exports } from "../../parts/exports.js";
import { Statements } from "../../parts/statements.js";

export const Papers = () => html`<${Statements} base="/account/v1/statements" />
  <${Exports} base="/account/v1/exports" archive="/account/v1/archive" text=${t("exportsText")} />`;
