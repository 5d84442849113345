// Pictures of the pages as small files for the documents, with a page that shows them beside each other.
//
//   node paint.mjs FROM TO
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { small } from "./small.mjs";

const [from, to] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
const page = await browser.newPage();
for (const name of readdirSync(to)) if (/\.webp$/.test(name)) rmSync(join(to, name));
const names = readdirSync(from)
  .filter((name) => name.endsWith(".png") && !name.startsWith("stopped"))
  .sort();
for (const name of names) {
  writeFileSync(join(to, name.replace(/png$/, "webp")), await small(page, readFileSync(join(from, name))));
}
await browser.close();
const pages = [...new Set(names.map((name) => name.replace(/-(light|dark|phone|de|zh)\.png$/, "")))];
const line = (one) =>
  `## ${one}\n\n${names
    .filter(
      (name) =>
        name.startsWith(`${one}-`) &&
        pages.filter((other) => name.startsWith(`${other}-`)).sort((a, b) => b.length - a.length)[0] === one,
    )
    .map((name) => `![${name.replace(".png", "")}](${name.replace(/png$/, "webp")})`)
    .join("\n")}\n`;
writeFileSync(
  join(to, "README.md"),
  [
    "# The console in pictures",
    "",
    "Every page light, dark and as on a phone, made by `scripts/console pictures`. What is done with them is shown by",
    "[Three walks](../walks/README.md).",
    "",
    ...pages.map(line),
  ].join("\n"),
);
console.log(`${names.length} pictures`);
