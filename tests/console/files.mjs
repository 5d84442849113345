// What can be said of the console's files without a browser: every language has every text and no other, every text
// that a page asks for is there, no page carries words of its own, and nothing is heavier than agreed.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const root = process.argv[2] || fileURLToPath(new URL("../../crates/gateway/console/", import.meta.url));
const problems = [];
const languages = {};
for (const name of readdirSync(join(root, "words"))) {
  const [key] = name.split(".");
  languages[key] = (await import(pathToFileURL(join(root, "words", name)).href))[key];
}
const places = (text) => (text.match(/\{\d\}/g) || []).sort().join();
for (const [language, texts] of Object.entries(languages)) {
  for (const key of Object.keys(languages.en)) {
    if (!texts[key]) problems.push(`${language} lacks ${key}`);
    else if (places(texts[key]) !== places(languages.en[key]))
      problems.push(`${language}: ${key} fills in other places than English`);
  }
  for (const key of Object.keys(texts))
    if (!languages.en[key]) problems.push(`${language} has ${key}, which English does not`);
}

// What the service says of what it makes is shown in every language, by its own words as the key.
const document = JSON.parse(readFileSync(fileURLToPath(new URL("../../docs/openapi.json", import.meta.url)), "utf8"));
const resolve = (schema) => (schema.$ref ? document.components.schemas[schema.$ref.split("/").pop()] : schema);
const plain = (text) => text.replace(/\s+/g, " ").replace(/\.$/, "");
const spoken = new Set();
const fields = new Set();
const making = Object.values(document.paths)
  .flatMap((methods) => Object.values(methods))
  .filter((one) => one["x-makes"]);
for (const one of making) {
  const body = one.requestBody.content["application/json"];
  spoken.add(one.tags[0]).add(plain(one.summary));
  for (const [name, property] of Object.entries(resolve(body.schema).properties)) {
    fields.add(name);
    spoken.add(plain(property.description || resolve(property).description));
    if (property["x-hint"]) spoken.add(property["x-hint"]);
  }
  for (const name of ["prompt", "userPrompt"]) if (body.example?.[name]) spoken.add(body.example[name]);
}
for (const language of Object.keys(languages).filter((one) => one !== "en")) {
  const { texts } = await import(pathToFileURL(join(root, "catalogue", `${language}.js`)).href);
  for (const text of spoken) if (!texts[text]) problems.push(`catalogue/${language}.js lacks “${text}”`);
  for (const text of Object.keys(texts))
    if (!spoken.has(text)) problems.push(`catalogue/${language}.js: nothing says “${text}”`);
}
for (const name of fields)
  if (!languages.en[`field.${name}`]) problems.push(`no catalogue has a name for the field ${name}`);

function* below(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* below(path);
    else yield path;
  }
}
// Words between tags of a template that are not filled in; marks, names of the product and units stay.
const BARE = />\s*([A-Z][a-z]+(?: [a-z]+)+)[^<$]*</g;
/** All files of one language, packed and without pictures; a first visit reads far fewer and has a limit of its own. */
const MOST_BYTES = 220_000;
/** Near enough to what the service makes of a module; its own test weighs what it really sends. */
const sent = (text) => text.replace(/^ *(\/\/.*|\/\*\*[\s\S]*?\*\/)\n/gm, "").replace(/\/\*\* @.*?\*\/ ?/g, "");
/** No line of what people write is longer. */
const MOST_CHARACTERS = 120;
let bytes = 0;
let largest = 0;
const used = new Set();
function narrow(path) {
  const lines = readFileSync(path, "utf8").split("\n");
  for (const [place, line] of lines.entries())
    if (line.length > MOST_CHARACTERS) problems.push(`${path}:${place + 1}: ${line.length} characters`);
}
for (const path of below(import.meta.dirname)) if (/\.(mjs|ts)$/.test(path)) narrow(path);
for (const path of below(root)) {
  // Files are sent packed, modules without their comments.
  const size = gzipSync(path.endsWith(".js") ? sent(readFileSync(path, "utf8")) : readFileSync(path)).length;
  if (path.includes("/words/")) largest = Math.max(largest, size);
  else if (!/\/(tiles|catalogue)\//.test(path)) bytes += size;
  if (/\.(js|css)$/.test(path) && !path.includes("/vendor/")) narrow(path);
  if (!path.endsWith(".js") || /\/(words|vendor|catalogue)\//.test(path)) continue;
  const text = readFileSync(path, "utf8");
  for (const [, key] of text.matchAll(/\bt\(\s*"([\w.]+)"/g)) used.add(key);
  for (const [, one, more] of text.matchAll(/\bmany\([^"]*"(\w+)",\s*"(\w+)"/g)) {
    used.add(one);
    used.add(more);
  }
  for (const [, words] of text.matchAll(BARE))
    problems.push(`${path.slice(root.length)}: “${words}” belongs into the catalogue`);
}
for (const key of used) if (!languages.en[key]) problems.push(`no catalogue has ${key}`);
// A visitor reads one language.
bytes += largest;
if (bytes > MOST_BYTES) problems.push(`${bytes} bytes packed, without media`);
for (const problem of problems) console.log(`- ${problem}`);
console.log(
  `${Object.keys(languages).length} languages with ${
    Object.keys(languages.en).length
  } texts each, ${used.size} asked for by name, ${bytes} bytes packed`,
);
process.exit(problems.length ? 1 : 0);
