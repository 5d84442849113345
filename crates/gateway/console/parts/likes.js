// What a model can be like: the built-in models of every family, and the operations themselves, read from the service's
// own description. That one also lists the models of operators, which are told apart by the list of those.

const SPELLINGS = ["model", "modelName"];
/** Lists that an operator may replace instead of narrowing them. */
const REPLACED = ["size", "seconds", "duration", "video_length", "quality"];
/** Kinds of fields that no rule of a model is about. */
const APART = ["prompt", "job", "image", "images", "mask", "address"];

/** The field of an operation that names the model, if it has one. @param {Operation} operation */
export const modelField = (operation) => operation.fields.find((field) => SPELLINGS.includes(field.name));

/**
 * Everything a model can be like, in the order of the families: `family/model`, then the operations.
 * @param {All} all @param {Wire.SoldModel[]} rows
 */
export function likes(all, rows) {
  const own = new Set(
    rows.flatMap((row) => [...(row.like ? [row.name] : []), ...(row.aliases || [])]).map((name) => name.toLowerCase()),
  );
  // A built-in model that is switched off is left out of the description; its own row knows its operations.
  const off = (/** @type {Operation} */ operation) =>
    rows.filter((row) => !row.like && row.operations?.includes(operation.name)).map((row) => row.name);
  const models = new Map();
  /** @type {Like[]} */
  const operations = [];
  for (const operation of all.operations) {
    const family = operation.name.split(".")[0];
    for (const word of new Set([...(modelField(operation)?.options || []), ...off(operation)])) {
      if (own.has(word.toLowerCase())) continue;
      const name = `${family}/${word}`;
      const known = models.get(name) || {
        name,
        model: word,
        family: operation.family,
        makes: operation.makes,
        operations: /** @type {Operation[]} */ ([]),
      };
      known.operations.push(operation);
      models.set(name, known);
    }
    if (!operation.follows)
      operations.push({
        name: operation.name,
        model: "",
        family: operation.family,
        makes: operation.makes,
        operations: [operation],
      });
  }
  return [...models.values(), ...operations];
}

/**
 * The one of a name; a built-in model's bare name stands for it where one family has it.
 * @param {Like[]} all @param {string} name
 */
export function likeOf(all, name) {
  const exact = all.find((one) => one.name === name);
  if (exact || !name) return exact;
  const bare = all.filter((one) => one.model.toLowerCase() === name.toLowerCase());
  return bare.length === 1 ? bare[0] : undefined;
}

/**
 * Everything that is made by a built-in model, of whichever family, for its own settings.
 * @param {Like[]} all @param {string} name
 */
export function builtIn(all, name) {
  const own = all.filter((one) => one.model === name);
  return own.length ? { ...own[0], name, operations: own.flatMap((one) => one.operations) } : undefined;
}

/** The fields that rules can be about, each once. @param {Like} like */
export function ruledFields(like) {
  const found = new Map();
  for (const field of like.operations.flatMap((operation) => operation.fields)) {
    if (SPELLINGS.includes(field.name) || APART.includes(field.widget || "")) continue;
    const known = found.get(field.name);
    const options = field.options && [...new Set([...(known?.options || []), ...field.options])];
    found.set(field.name, { ...field, ...known, options, free: REPLACED.includes(field.name) });
  }
  return [...found.values()].filter((field) => field.type !== "array" && field.type !== "object");
}

/**
 * The words that a field has in the end: those of its rule, or those of what the model is like.
 * @param {Field} field @param {Rule | undefined} rule
 */
export const wordsOf = (field, rule) => (rule?.allowed?.length ? rule.allowed : field.options || []);
