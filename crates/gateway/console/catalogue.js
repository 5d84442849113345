// What the service can make, read from its own description: nothing about families is written down here.
import { get } from "./api.js";

let kept = null;

/** The operations that make something, each with its fields, in the order of the document. */
export function catalogue() {
  kept ||= get("/openapi.json").then(read).catch((error) => { kept = null; throw error; });
  return kept;
}

function read(document) {
  const schemas = document.components.schemas;
  const resolve = (schema) => {
    if (schema?.$ref) return resolve(schemas[schema.$ref.split("/").pop()]);
    const some = schema?.anyOf?.find((one) => one.type !== "null") || schema?.allOf?.[0];
    return some ? { ...resolve(some), ...schema, anyOf: undefined, allOf: undefined } : schema;
  };
  const operations = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    const one = methods.post;
    const takesKey = one?.parameters?.some((parameter) => parameter.name === "Idempotency-Key");
    const content = one?.requestBody?.content?.["application/json"];
    if (!takesKey || !content || one.deprecated || /discouraged/.test(one.summary)) continue;
    const schema = resolve(content.schema);
    const required = new Set(schema.required || []);
    const fields = Object.entries(schema.properties || {}).map(([name, property]) => field(name, property, required.has(name), resolve));
    operations.push({
      name: one.operationId, path, summary: one.summary.replace(/\.$/, ""), family: one.tags[0],
      fields: sorted(fields), example: content.example || {}, follows: required.has("jobId") || required.has("job_id"),
      makes: makes(one.operationId, path),
    });
  }
  const order = document.tags.map((tag) => tag.name);
  operations.sort((a, b) => order.indexOf(a.family) - order.indexOf(b.family));
  const families = order.filter((name) => operations.some((one) => one.family === name));
  return { operations, families, resolve };
}

const makes = (name, path) => (/video|vidgen|clipgen|motion/.test(path) ? "video" : "picture");

/** One field as the form needs it. */
function field(name, property, required, resolve) {
  const schema = resolve(property);
  const types = [schema.type].flat().filter((type) => type && type !== "null");
  const items = schema.items ? resolve(schema.items) : null;
  const widget = schema["x-widget"] || (items && items["x-widget"] === "image" ? "images" : null);
  return {
    name, required, schema, items, type: types[0] || "string", widget,
    default: schema.default, options: schema.enum || null, description: schema.description || "",
  };
}

const rank = (field) => {
  if (field.widget === "prompt") return 0;
  if (field.required) return 1;
  if (field.widget === "image" || field.widget === "images") return 2;
  if (field.options) return 3;
  if (field.name === "timeout" || field.widget === "address") return 9;
  return 5;
};
const sorted = (fields) => fields.map((one, place) => [one, place]).sort(([a, i], [b, j]) => rank(a) - rank(b) || i - j).map(([one]) => one);

/** Whether a field is shown at once or only among the further settings. */
export const isMain = (field) => rank(field) < 4;
