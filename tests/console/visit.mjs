// A visitor in a real browser: everything that goes wrong on the way is written down, pages can be looked at in every
// dress, and a checker looks for barriers. With CONSOLE_FILES the console's files come from that folder instead of the
// service, so that a change of theirs needs no build.
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";
import { chromium } from "playwright-core";

const CHECKER = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TYPES = {
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
  ".html": "text/html",
};
/** How a page is looked at: its name, the colours, the size. */
const DRESSES = [
  ["light", "light", 1360, 860],
  ["dark", "dark", 1360, 860],
  ["phone", "light", 360, 760],
];
const SERIOUS =
  "axe.run(document, {resultTypes: ['violations']}).then((found) => " +
  "JSON.stringify(found.violations.filter((one) => ['serious', 'critical'].includes(one.impact)).map((one) => one.id " +
  "+ ': ' + one.nodes.map((node) => node.html.slice(0, 140)).slice(0, 3).join(' | '))))";

export class Visit {
  /** @param {string} base @param {string} folder where pictures go */
  static async begin(base, folder) {
    const visit = new Visit();
    visit.base = base;
    visit.folder = folder;
    visit.problems = [];
    visit.bytes = 0;
    visit.longest = 0;
    mkdirSync(folder, { recursive: true });
    visit.browser = await chromium.launch({
      executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--disable-background-networking",
        "--disable-features=OptimizationHints",
        "--disable-component-update",
        "--disable-sync",
      ],
    });
    visit.context = await visit.browser.newContext({
      viewport: { width: 1360, height: 860 },
      bypassCSP: false,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await visit.context.addInitScript(() => {
      globalThis.longestTask = 0;
      new PerformanceObserver((list) => {
        for (const one of list.getEntries()) globalThis.longestTask = Math.max(globalThis.longestTask, one.duration);
      }).observe({ type: "longtask", buffered: true });
    });
    await visit.fromFolder(process.env.CONSOLE_FILES);
    visit.page = await visit.context.newPage();
    if (process.env.PATIENCE) visit.page.setDefaultTimeout(Number(process.env.PATIENCE));
    visit.listen(visit.page);
    return visit;
  }

  /** Serves the console's files from a folder, under the policy of the service. */
  async fromFolder(folder) {
    if (!folder) return;
    const answer = await fetch(`${this.base}/console/`);
    const policy = answer.headers.get("content-security-policy");
    const serve = (name) => async (route) => {
      const path =
        name || normalize(new URL(route.request().url()).pathname.slice("/console/".length).replace(/^~\w+\//, ""));
      const file = join(folder, path || "index.html");
      const found = existsSync(file) && statSync(file).isFile() ? file : join(folder, "index.html");
      if (path === "session" || path === "catalogue.json" || path.startsWith("..")) {
        await route.continue();
        return;
      }
      await route.fulfill({
        body: readFileSync(found),
        headers: {
          "content-type": `${TYPES[extname(found)] || "text/plain"}; charset=utf-8`,
          "content-security-policy": policy,
        },
      });
    };
    await this.context.route((url) => url.pathname.startsWith("/console/"), serve(""));
    await this.context.route(
      (url) => url.pathname === "/docs" || (url.pathname.startsWith("/docs/") && !/\.(md|json)$/.test(url.pathname)),
      serve("docs.html"),
    );
  }

  listen(page) {
    this.open = new Set();
    // A stream of events is open for as long as the page is.
    page.on("request", (request) => {
      if (request.resourceType() !== "eventsource") this.open.add(request);
    });
    // Nobody is told how those of the page before end; a change of address without a load is no other page.
    let leaving = false;
    page.on("request", (request) => {
      leaving ||= request.isNavigationRequest() && request.frame() === page.mainFrame();
    });
    page.on("framenavigated", (frame) => {
      if (frame !== page.mainFrame() || !leaving) return;
      leaving = false;
      this.open.clear();
    });
    for (const end of ["requestfinished", "requestfailed"]) page.on(end, (request) => this.open.delete(request));
    page.on("console", (message) => {
      // A refusal that the page shows to the viewer is no error of the page.
      if (message.type() === "error" && !this.expected?.test(message.text()))
        this.problems.push(`logged: ${message.text()} at ${message.location().url}`);
    });
    page.on("pageerror", (error) => this.problems.push(`thrown: ${error.stack || error.message}`));
    // Whoever pays does so at the provider's own page.
    const pays = `${process.env.ATELIER_PAYMENTS_STRIPE_BASE_URL}/pay/`;
    page.on("request", (request) => {
      if (request.isNavigationRequest() && request.url().startsWith(pays)) return;
      if (!request.url().startsWith(this.base) && !/^(data|blob):/.test(request.url()))
        this.problems.push(`asked elsewhere: ${request.url()}`);
    });
    page.on("response", (response) => {
      // The browser says only where; whoever looks for the reason needs what was asked.
      if (response.status() < 400 || this.expected?.test(`${response.status()}`)) return;
      const asked = response.request();
      this.step(
        `    ${response.status()}: ${asked.method()} ${response.url()} ${(asked.postData() || "").slice(0, 400)}`,
      );
    });
    page.on("response", async (response) => {
      if (/\/(console|docs)\b/.test(response.url()))
        this.bytes += (await response.body().catch(() => Buffer.alloc(0))).length;
    });
  }

  check(good, what) {
    if (!good) this.problems.push(what);
  }

  step(text) {
    console.log(text);
  }

  /** Waits until the page has asked for nothing for a moment. */
  async settled() {
    for (let quiet = 0, rounds = 0; quiet < 4 && rounds < 300; rounds += 1) {
      await this.page.waitForTimeout(100);
      quiet = this.open.size ? 0 : quiet + 1;
    }
  }

  async visitPage(url) {
    this.open.clear();
    await this.page.goto(url, { waitUntil: "load" });
    await this.settled();
  }

  async go(path) {
    await this.visitPage(`${this.base}${path}`);
    this.longest = Math.max(this.longest, await this.page.evaluate(() => globalThis.longestTask || 0));
  }

  /** No serious barrier on the page as it is. */
  async barriers(name) {
    const session = await this.context.newCDPSession(this.page);
    // The checker comes in its own world, so that the page's policy stays as strict as it is.
    await session.send("Runtime.evaluate", { expression: CHECKER });
    const { result } = await session.send("Runtime.evaluate", { expression: SERIOUS, awaitPromise: true });
    await session.detach();
    for (const violation of JSON.parse(result.value)) this.problems.push(`${name}: ${violation}`);
  }

  /** Looks at a page in every dress: nothing is wider than the window, nothing bars anybody. */
  async look(name, path = undefined, { checked = true } = {}) {
    for (const [kind, colour, width, height] of DRESSES) {
      await this.page.emulateMedia({ colorScheme: colour });
      await this.page.setViewportSize({ width, height });
      if (path !== undefined) await this.go(path);
      await this.page.waitForTimeout(350);
      await this.page.screenshot({ path: `${this.folder}/${name}-${kind}.png` });
      const wide = await this.page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1);
      this.check(!wide, `${name} ${kind}: wider than the window`);
      if (checked) await this.barriers(`${name} ${kind}`);
    }
    await this.page.emulateMedia({ colorScheme: "light" });
    await this.page.setViewportSize({ width: 1360, height: 860 });
  }

  /** Runs a story; what stops it is a problem with a picture. */
  async tell(name, story) {
    const begun = performance.now();
    try {
      await story(this, this.page);
      this.step(`ok  ${name} (${((performance.now() - begun) / 1000).toFixed(1)} s)`);
    } catch (error) {
      this.problems.push(`${name}: ${error.message.split("\n").slice(0, 4).join(" ")}`);
      await this.page.screenshot({ path: `${this.folder}/stopped-${name.replace(/\W+/g, "-")}.png` }).catch(() => {});
      this.step(`bad ${name}`);
    }
    await this.page.keyboard.press("Escape").catch(() => {});
  }

  /** Chooses from the menu of a row. */
  async choose(row, name) {
    await row.locator(".row-more").first().click();
    await row.locator(".row-menu:popover-open .menu-line", { hasText: name }).click();
  }

  /** Signs in with the printed link, a key or a token. */
  async signIn(secret) {
    if (secret.startsWith("http")) {
      await this.visitPage(secret);
      return;
    }
    // What the page still asks for belongs to whoever was here before.
    await this.settled();
    await this.page.goto("about:blank");
    await this.context.clearCookies();
    await this.go("/console/");
    await this.page.fill("#secret", secret);
    await this.page.click(".sign-in .make");
    await this.page.waitForSelector(".rooms");
  }

  /** Ends the visit: what went wrong, or nothing. */
  async end() {
    await this.browser.close();
    const found = [...new Set(this.problems)];
    for (const problem of found) console.log(`- ${problem}`);
    return found;
  }
}
