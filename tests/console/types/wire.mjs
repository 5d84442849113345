// What the service answers, as types: written anew from its own description whenever the types are checked, so that a
// field that it no longer has is an error in the page that shows it.
//
//   node wire.mjs openapi.json > wire.d.ts
import { readFileSync } from "node:fs";

const { components, paths } = JSON.parse(readFileSync(process.argv[2], "utf8"));

/** A schema as a type. */
function typeOf(schema) {
  if (!schema || schema === true) return "Json";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  const ways = schema.anyOf || schema.oneOf;
  if (ways) return ways.map(typeOf).join(" | ");
  if (schema.allOf) return typeOf(schema.allOf[0]);
  const kinds = [schema.type].flat().map((kind) => {
    if (kind === "array") return `(${typeOf(schema.items)})[]`;
    if (kind === "object") return objectOf(schema);
    return { integer: "number", number: "number", string: "string", boolean: "boolean", null: "null" }[kind] || "Json";
  });
  return kinds.join(" | ");
}

function objectOf({ properties, additionalProperties, required = [] }) {
  if (!properties) return `Record<string, ${typeOf(additionalProperties)}>`;
  const fields = Object.entries(properties).map(([name, one]) => {
    // What may be null is sent as null, and not left out.
    const [kind, whether] = [typeOf(one), required.includes(name)];
    return `${JSON.stringify(name)}${whether || kind.includes("null") ? "" : "?"}: ${kind}`;
  });
  return `{ ${fields.join("; ")} }`;
}

const lines = ["declare namespace Wire {"];
for (const [name, schema] of Object.entries(components.schemas)) lines.push(`  type ${name} = ${typeOf(schema)};`);
lines.push("  interface Answers {");
for (const [path, methods] of Object.entries(paths)) {
  for (const [method, one] of Object.entries(methods)) {
    const good = Object.entries(one.responses || {}).find(([status]) => status.startsWith("2"));
    const schema = good?.[1].content?.["application/json"]?.schema;
    lines.push(`    ${JSON.stringify(`${method} ${path}`)}: ${typeOf(schema)};`);
  }
}
console.log([...lines, "  }", "}"].join("\n"));
