// How a list goes on: page by page; or, when words are searched for, behind the last row or where the search has ended.

/** The beginning of a list. */
export const START = { page: 1, after: "", before: 0 };

/** What is asked for. @param {{ page: number, after: string }} given */
export const asked = ({ page, after }) => `&page=${page}${after ? `&after=${encodeURIComponent(after)}` : ""}`;

/**
 * How many rows are known of: what was shown before, and what this answer knows of.
 * @param {Answered} answer @param {{ before: number }} given
 */
export const totalOf = (answer, { before }) => before + (answer.total ?? answer.data.length);

/**
 * What is asked for next; nothing at the end. An answer to a search says itself behind which row it goes on.
 * @param {Answered} answer @param {Way} way @param {number} limit
 */
export function onward(answer, way, limit) {
  if (answer.next) return { page: 1, after: answer.next, before: way.before + answer.data.length };
  return !way.after && way.page * limit < Number(answer.total) ? { ...way, page: way.page + 1 } : null;
}
