// What the service can make, read from its own description: nothing about families is written down here.
import { get } from "./api.js";

/** @type {Promise<All> | null} */
let kept = null;
/** @type {All | null} */
let known = null;

/** What was read already, without waiting. */
export const catalogueNow = () => known;

/** The operations that make something, each with its fields, in the order people want them. */
export function catalogue() {
  kept ||= get("/console/catalogue.json")
    .then((document) => {
      known = read(document);
      return known;
    })
    .catch((error) => {
      kept = null;
      throw error;
    });
  return kept;
}

let whole = null;

/** What was read is read anew when it is wanted next: the models have changed. */
export function forget() {
  kept = null;
  known = null;
  whole = null;
}

/** The same from the whole description, as it is now. */
export const wholeCatalogue = () => get("/openapi.json").then(read);

/** The schema of what an operation of the service takes in its body, its parts beside it. @param {string} name */
export async function bodyOf(name) {
  whole ||= get("/openapi.json").catch((error) => {
    whole = null;
    throw error;
  });
  const document = await whole;
  const content = operationsOf(document).find((one) => one.operationId === name)?.requestBody?.content?.[
    "application/json"
  ];
  const schema = resolver(document)(content?.schema) || {};
  const order = content?.["x-order"] || [];
  const place = (/** @type {string} */ key) => {
    const found = order.indexOf(key);
    return found < 0 ? order.length : found;
  };
  const properties = Object.entries(schema.properties || {}).sort(([a], [b]) => place(a) - place(b));
  return { ...schema, properties: Object.fromEntries(properties), $defs: document.components.schemas };
}

/**
 * Follows references and takes the one alternative that is not null.
 * @param {Pick<Description, "components">} document
 */
export function resolver(document) {
  const schemas = document.components.schemas;
  /** @param {Json} schema @returns {Json} */
  const resolve = (schema) => {
    if (schema?.$ref) return resolve(schemas[schema.$ref.split("/").pop()]);
    const some = schema?.anyOf?.find((/** @type {Schema} */ one) => one.type !== "null") || schema?.allOf?.[0];
    return some ? { ...resolve(some), ...schema, anyOf: undefined, allOf: undefined } : schema;
  };
  return resolve;
}

/** Every operation of the document in the order of its tables. @param {Description} document */
export function operationsOf(document) {
  const all = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, one] of Object.entries(methods)) all.push({ ...one, path, method });
  }
  return all.sort((a, b) => (a["x-place"] ?? 0) - (b["x-place"] ?? 0));
}

/**
 * The fields of an object in the order people want to read them.
 * @param {Schema} schema @param {string[] | undefined} order @param {(schema: Schema) => Schema} resolve
 */
export function fieldsOf(schema, order, resolve) {
  const required = new Set(schema.required || []);
  const place = (/** @type {string} */ name) => {
    const found = (order || []).indexOf(name);
    return found < 0 ? 1e6 : found;
  };
  return Object.entries(schema.properties || {})
    .filter(([, property]) => property)
    .sort(([a], [b]) => place(a) - place(b))
    .map(([name, property]) => field(name, property, required.has(name), resolve));
}

/** @param {Description} document */
function read(document) {
  const resolve = resolver(document);
  /** @type {Operation[]} */
  const operations = [];
  for (const one of operationsOf(document)) {
    const takesKey = one.parameters?.some((parameter) => parameter.name === "Idempotency-Key");
    const content = one.requestBody?.content?.["application/json"];
    if (!takesKey || !one["x-makes"] || !content || one.deprecated) continue;
    // How an answer is wanted is no setting of what is made; the console waits for it.
    const fields = fieldsOf(resolve(content.schema), content["x-order"], resolve).filter(
      (field) => field.widget !== "answer",
    );
    operations.push({
      name: one.operationId,
      path: one.path,
      summary: one.summary.replace(/\.$/, ""),
      family: one.tags[0],
      fields: sorted(fields),
      example: content.example || {},
      makes: one["x-makes"],
      follows: fields.some((field) => field.widget === "job" && field.required),
    });
  }
  const families = document.tags.map((tag) => tag.name).filter((name) => operations.some((one) => one.family === name));
  return { operations, families };
}

/**
 * One field as the form needs it.
 * @param {string} name @param {Schema} property @param {boolean} required
 * @param {(schema: Schema) => Schema} resolve
 */
function field(name, property, required, resolve) {
  const schema = resolve(property);
  const types = [schema.type].flat().filter((type) => type && type !== "null");
  const items = schema.items ? resolve(schema.items) : null;
  const widget = schema["x-widget"] || (items && items["x-widget"] === "image" ? "images" : null);
  return {
    name,
    required,
    schema,
    items,
    type: types[0] || "string",
    widget,
    default: schema.default,
    options: schema.enum ? schema.enum.filter((one) => one !== null) : null,
    description: schema.description || "",
  };
}

/** @param {Field} field */
export const isPicture = (field) => field.widget === "image" || field.widget === "images";
/** What is given by dropping a file: a picture, or a video. @param {Field} field */
export const isMedia = (field) => isPicture(field) || field.widget === "video";
/** Whether a field takes an address and not the bytes themselves. @param {Field} field */
export const takesAddress = (field) => (field.items || field.schema).format === "uri";
/** @param {Operation | null | undefined} operation */
export const promptOf = (operation) => operation?.fields.find((field) => field.widget === "prompt");

/** @param {Field} field */
const rank = (field) => {
  if (field.widget === "prompt") return 0;
  if (isMedia(field) || field.widget === "mask") return field.required ? 1 : 2;
  if (field.required) return 2;
  if (field.options) return 3;
  if (field.name === "timeout" || field.widget === "address") return 9;
  return 5;
};
/** @param {Field[]} fields */
const sorted = (fields) =>
  fields
    .map((one, place) => /** @type {[Field, number]} */ ([one, place]))
    .sort(([a, i], [b, j]) => rank(a) - rank(b) || i - j)
    .map(([one]) => one);

/** Whether a field is shown at once or only among the further settings. @param {Field} field */
export const isMain = (field) => rank(field) < 4;

/**
 * The operations that carry on what a job made: those of its family that need an earlier job.
 * @param {All} all @param {Job} job
 */
export function followers(all, job) {
  const family = all.operations.find((one) => one.name === job.operation)?.family;
  return all.operations.filter((one) => one.family === family && one.follows);
}

/**
 * The field of an operation that names the earlier job, and the one that says which of its results.
 * @param {Operation} operation
 */
export const jobField = (operation) => operation.fields.find((field) => field.widget === "job");
/** @param {Operation} operation */
export const placeField = (operation) =>
  operation.fields.find((field) => field.required && field.type === "integer" && field.schema.minimum === 0);

/**
 * An operation that takes a picture, by its address where that is possible: of the same family if there is one.
 * @param {All} all @param {string | undefined} family
 */
export function taker(all, family, fits = (/** @type {Operation} */ _) => true) {
  const able = all.operations.filter((one) => !one.follows && one.fields.some(isPicture) && fits(one));
  const easy = (/** @type {Operation} */ one) =>
    one.fields.every(
      (field) =>
        !field.required ||
        isPicture(field) ||
        field.widget === "prompt" ||
        field.default !== undefined ||
        field.options,
    );
  return able.find((one) => one.family === family && easy(one)) || able.find(easy) || able[0];
}
