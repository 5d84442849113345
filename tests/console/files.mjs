// What can be said of the console's files without a browser: every language has every text and no other, every text that
// a page asks for is there, no page carries words of its own, and nothing is heavier than agreed.
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
    else if (places(texts[key]) !== places(languages.en[key])) problems.push(`${language}: ${key} fills in other places than English`);
  }
  for (const key of Object.keys(texts)) if (!languages.en[key]) problems.push(`${language} has ${key}, which English does not`);
}

function* below(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* below(path); else yield path;
  }
}
// Words between tags of a template that are not filled in; marks, names of the product and units stay.
const BARE = />\s*([A-Z][a-z]+(?: [a-z]+)+)[^<$]*</g;
let bytes = 0;
let largest = 0;
const used = new Set();
for (const path of below(root)) {
  // Files are sent packed.
  const size = gzipSync(readFileSync(path)).length;
  if (path.includes("/words/")) largest = Math.max(largest, size);
  else if (!path.includes("/tiles/")) bytes += size;
  if (!path.endsWith(".js") || /\/(words|vendor)\//.test(path)) continue;
  const text = readFileSync(path, "utf8");
  for (const [, key] of text.matchAll(/\bt\("([\w.]+)"/g)) used.add(key);
  for (const [, one, more] of text.matchAll(/\bmany\([^"]*"(\w+)", "(\w+)"/g)) { used.add(one); used.add(more); }
  for (const [, words] of text.matchAll(BARE)) problems.push(`${path.slice(root.length)}: “${words}” belongs into the catalogue`);
}
for (const key of used) if (!languages.en[key]) problems.push(`no catalogue has ${key}`);
// A visitor reads one language.
bytes += largest;
if (bytes > 150_000) problems.push(`${bytes} bytes packed, without media`);
for (const problem of problems) console.log(`- ${problem}`);
console.log(`${Object.keys(languages).length} languages with ${Object.keys(languages.en).length} texts each, ${used.size} asked for by name, ${bytes} bytes packed`);
process.exit(problems.length ? 1 : 0);
