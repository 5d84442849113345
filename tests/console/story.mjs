// The console in a real browser: sign in by the printed link, make a picture, follow up on it, find it again, issue and
// revoke a key, sign in as an operator. Nothing may be logged as an error, nothing asked of another host, and no page may
// have a serious barrier.
//
//   node story.mjs BASE_URL LINK OPERATOR_TOKEN FOLDER_FOR_PICTURES
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [base, link, token, folder] = process.argv.slice(2);
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const problems = [];
const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, bypassCSP: false });
const page = await context.newPage();
let bytes = 0;
page.on("console", (message) => message.type() === "error" && problems.push(`logged: ${message.text()}`));
page.on("pageerror", (error) => problems.push(`thrown: ${error.message}`));
page.on("request", (request) => { if (!request.url().startsWith(base) && !/^(data|blob):/.test(request.url())) problems.push(`asked elsewhere: ${request.url()}`); });
page.on("response", async (response) => { if (response.url().includes("/console/")) bytes += (await response.body().catch(() => Buffer.alloc(0))).length; });
const check = (true_, what) => { if (!true_) problems.push(what); };
const step = (text) => console.log(text);

async function look(name, path) {
  for (const [kind, colour, width, height] of [["light", "light", 1360, 860], ["dark", "dark", 1360, 860], ["phone", "light", 360, 760]]) {
    await page.emulateMedia({ colorScheme: colour });
    await page.setViewportSize({ width, height });
    if (path !== undefined) await page.goto(`${base}/console/${path}`, { waitUntil: "networkidle" });
    await page.waitForTimeout(300);
    await page.screenshot({ path: `${folder}/${name}-${kind}.png` });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1);
    check(!wide, `${name} ${kind}: wider than the window`);
    if (kind === "phone") continue;
    // The checker comes in its own world, so that the page's policy stays as strict as it is.
    const session = await context.newCDPSession(page);
    const { readFileSync } = await import("node:fs");
    await session.send("Runtime.evaluate", { expression: readFileSync(axe, "utf8") });
    const { result } = await session.send("Runtime.evaluate", { expression: "axe.run(document, {resultTypes: ['violations']}).then((found) => JSON.stringify(found.violations.filter((one) => ['serious', 'critical'].includes(one.impact)).map((one) => one.id + ': ' + one.nodes.map((node) => node.html.slice(0, 120)).slice(0, 3).join(' | '))))", awaitPromise: true });
    await session.detach();
    for (const violation of JSON.parse(result.value)) problems.push(`${name} ${kind}: ${violation}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1360, height: 860 });
}

try {
  await look("sign-in", "");
  await page.goto(link, { waitUntil: "networkidle" });
  await page.waitForSelector(".form textarea");
  const ready = await page.evaluate(() => Math.round(performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd));
  step(`signed in by the link; the page was ready after ${ready} ms`);
  check(!(await page.evaluate(() => document.cookie)).includes("atelier_session"), "a script can read the session");

  await page.fill(".form textarea", "a fox in the rain <script>alert(1)</script>");
  await page.click("text=More settings");
  await page.check("input[id$='getUImages']");
  await page.click(".form .make");
  await page.waitForSelector(".job .made img", { timeout: 60_000 });
  check(await page.locator(".job .words", { hasText: "<script>alert(1)</script>" }).count() > 0, "a hostile prompt is not shown as text");
  step("made four pictures");
  await page.locator(".job .made").first().hover();
  await page.locator(".job .made").first().getByText("Upscale").click();
  await page.waitForFunction(() => document.querySelectorAll(".job .made-row.n1").length > 0, null, { timeout: 60_000 });
  step("upscaled one of them");
  await look("create", "create");
  await look("library", "library");
  await page.locator(".wall .thumb").first().click();
  await page.waitForSelector(".lightbox img");
  await page.keyboard.press("Escape");
  check(await page.locator(".lightbox").count() === 0, "Escape does not close the lightbox");
  await page.goto(`${base}/console/create`, { waitUntil: "networkidle" });
  await page.locator(".job > header .words").first().click();
  await page.waitForSelector(".timeline");
  await look("job");

  await look("account", "account");
  await page.click("text=New key");
  await page.fill("#ask-name", "from the console");
  await page.locator("dialog .button", { hasText: "New key" }).click();
  const key = (await page.locator(".secret code").textContent()).trim();
  check(key.startsWith("at_"), "a new key is not shown");
  await page.locator("dialog .button", { hasText: "done" }).click();
  const row = page.locator("tr", { hasText: "from the console" });
  await row.getByText("Revoke").click();
  await row.waitFor({ state: "detached" });
  step("issued and revoked a key");

  await page.click("text=Sign out");
  await page.waitForSelector("#secret");
  await page.fill("#secret", token);
  await page.click(".sign-in .make");
  await page.waitForSelector(".figures");
  for (const room of ["overview", "jobs", "accounts", "backends", "prices", "callbacks", "audit"]) await look(`operator-${room}`, `operator/${room}`);
  await page.goto(`${base}/console/operator/accounts`, { waitUntil: "networkidle" });
  await page.locator("tr", { hasText: "demo@example.com" }).getByText("Grant quota").click();
  await page.fill("#ask-amount", "25");
  await page.fill("#ask-reason", "a gift");
  await page.locator("dialog .button", { hasText: "Grant quota" }).click();
  await page.waitForSelector("dialog", { state: "detached" });
  step("granted quota as the operator");
  await page.keyboard.press("Control+k");
  await page.waitForSelector(".palette input");
  await page.keyboard.press("Escape");
} catch (error) {
  problems.push(`stopped: ${error.message}`);
  await page.screenshot({ path: `${folder}/stopped.png` });
}
step(`${Math.round(bytes / 1000)} kB of console were transferred in all`);
await browser.close();
if (problems.length) {
  for (const problem of [...new Set(problems)]) console.log(`- ${problem}`);
  process.exit(1);
}
step("1 passed, 0 failed");
