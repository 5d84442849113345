// Pictures of the pages as small files for the documents, with a page that shows them beside each other.
//
//   node paint.mjs FROM TO
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

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
  const source = `data:image/png;base64,${readFileSync(join(from, name)).toString("base64")}`;
  const made = await page.evaluate(async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.72);
  }, source);
  writeFileSync(join(to, name.replace(/png$/, "webp")), Buffer.from(made.split(",")[1], "base64"));
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
    "Every page light, dark and as on a phone, made by `scripts/console pictures`.",
    "",
    ...pages.map(line),
  ].join("\n"),
);
console.log(`${names.length} pictures`);
