// What was begun in the form and is not sent yet: it outlives a change of page and a reload, and ends with the session.

const KEPT = "atelier.draft";
/** Larger ones, as with a painted mask, last as long as the page. */
const MOST = 200_000;

/** @type {Draft | null} */
let draft = null;

/**
 * Keeps what somebody has said so far for an operation.
 * @param {string} owner @param {string} op @param {Values} values
 */
export function keepDraft(owner, op, values) {
  draft = { owner, op, values };
  try {
    const text = JSON.stringify(draft);
    if (text.length < MOST) sessionStorage.setItem(KEPT, text);
    else sessionStorage.removeItem(KEPT);
  } catch {
    /* then it lasts as long as the page */
  }
}

/** What was kept for the same account. @param {string} owner */
export function draftOf(owner) {
  if (!draft) {
    try {
      draft = JSON.parse(sessionStorage.getItem(KEPT) || "null");
    } catch {
      draft = null;
    }
  }
  return draft && draft.owner === owner ? draft : null;
}

/** Nothing is left for whoever signs in next. */
export function dropDraft() {
  draft = null;
  try {
    sessionStorage.removeItem(KEPT);
  } catch {
    /* nothing was kept */
  }
}
