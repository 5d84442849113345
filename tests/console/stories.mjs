// Every story of the console in a real browser: what a caller does, what an operator does, what a stranger tries. Each
// ends well, nothing is logged as an error, nothing is asked of another host, and no page has a serious barrier in any
// dress.
//
//   node stories.mjs BASE_URL LINK TOKEN KEY FOLDER
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { promisify } from "node:util";
import { drawn } from "./reach.mjs";
import { made } from "./results.mjs";
import { Visit } from "./visit.mjs";
import { firstStory } from "./first.mjs";
import { callersTopics, operatorsTopics } from "./topics.mjs";

const [base, link, token, key, folder] = process.argv.slice(2);
const HOSTILE = "<img src=x onerror=alert(1)> \"'&{{7*7}}";

/** A server on this machine: a receiver of callbacks, or a vendor that always fails in its own words. */
function listen(answer) {
  const seen = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (piece) => {
      text += piece;
    });
    request.on("end", () => {
      seen.push({ url: request.url, headers: request.headers, text });
      answer(response);
    });
  });
  return new Promise((done) => {
    server.listen(0, "127.0.0.1", () =>
      done({ url: `http://127.0.0.1:${server.address().port}`, seen, close: () => server.close() }),
    );
  });
}

const json = (response, status, body) => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
};

async function repaint(visit, page) {
  await visit.go("/console/create");
  const card = page.locator(".job", { has: page.locator(".made-row.n1") }).first();
  await card.getByRole("button", { name: "Repaint a region" }).click();
  const canvas = page.locator(".mask-board canvas");
  await canvas.waitFor();
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height * 0.4);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.5, { steps: 5 });
  await page.mouse.up();
  await page.getByRole("button", { name: "Invert" }).click();
  await page.getByRole("button", { name: "Invert" }).click();
  await page.fill("#repaint-words", "a red balloon");
  await page.locator("dialog.mask").screenshot({ path: `${visit.folder}/mask-light.png` });
  const before = await page.locator(".job").count();
  await page.locator("dialog.mask .button", { hasText: "Done" }).click();
  await page.waitForFunction((count) => document.querySelectorAll(".job").length > count, before, { timeout: 20_000 });
  await page.waitForFunction(
    () =>
      /red balloon/.test(document.querySelector(".job .words")?.textContent || "") &&
      document.querySelector(".job .made img"),
    null,
    { timeout: 60_000 },
  );
}

async function clip(visit, page) {
  await visit.go("/console/create");
  const card = page.locator(".job", { has: page.locator(".made-row.n1") }).first();
  await card.getByRole("button", { name: "Animate" }).click();
  await page.waitForFunction(() => document.querySelector(".chosen img"));
  await page.fill(".form textarea", "the fox walks on");
  await page.click(".form .make");
  await page.waitForFunction(
    () =>
      /walks on/.test(document.querySelector(".job .words")?.textContent || "") && document.querySelector(".job .made"),
    null,
    { timeout: 120_000 },
  );
  const first = page.locator(".job .made").first();
  await first.hover();
  const jobs = await page.locator(".job").count();
  await first.getByText("Extend").click();
  const grown = await page.waitForFunction(
    (count) => document.querySelectorAll(".job").length > count || document.querySelector(".form input[id$='jobId']"),
    jobs,
    { timeout: 20_000 },
  );
  visit.check(Boolean(grown), "the clip cannot be extended");
  if ((await page.locator(".job").count()) === jobs) await page.click(".form .make");
  await page.waitForFunction(
    (count) => document.querySelectorAll(".job").length > count && !document.querySelector(".job.at-work"),
    jobs,
    { timeout: 120_000 },
  );
  await visit.go("/console/library?show=videos");
  await page.waitForSelector(".wall .thumb");
  visit.check((await page.locator(".wall .thumb").count()) >= 2, "the clips are not in the library");
}

async function compare(visit, page) {
  await visit.go("/console/library?show=pictures");
  const marks = page.locator(".thumb-frame .mark input");
  await marks.nth(0).check({ force: true });
  await marks.nth(1).check({ force: true });
  await page.locator(".marked-bar .button", { hasText: "Compare" }).click();
  await page.waitForSelector(".compare-board img");
  await page.locator(".compare-board input").fill("30");
  await page.locator("dialog.compare").screenshot({ path: `${visit.folder}/compare-light.png` });
  await page.keyboard.press("Escape");
}

/**
 * An account with a third of a million results: the wall is read and scrolled for a while, and stays as light as it
 * was.
 */
async function longWall(visit, page) {
  const [sample] = (
    await fetch(`${base}/jobs/v1?limit=1&makes=picture&status=success`, { headers: { "SVC-API-KEY": key } }).then(
      (answer) => answer.json(),
    )
  ).data;
  const total = 333_333;
  const at = (place) => ({
    ...sample,
    jobId: `01990000-0000-7000-8000-${String(place).padStart(12, "0")}`,
    createdAt: new Date(Date.now() - place * 300_000).toISOString().slice(0, 19).replace("T", " "),
  });
  const serve = async (route) => {
    const query = new URL(route.request().url()).searchParams;
    const [number, limit] = [Number(query.get("page") || 1), Number(query.get("limit"))];
    await route.fulfill({
      json: {
        status: "SUCCESS",
        data: Array.from({ length: limit }, (_, place) => at((number - 1) * limit + place)),
        total,
        page: number,
        limit,
      },
    });
  };
  await page.route((url) => url.pathname === "/jobs/v1", serve);
  await visit.go("/console/library");
  await page.waitForSelector(".wall .thumb");
  const far = await page.evaluate(async () => {
    const wait = (ms) =>
      new Promise((done) => {
        setTimeout(done, ms);
      });
    globalThis.longestTask = 0;
    let reached = 0;
    for (let round = 0; round < 60; round += 1) {
      scrollTo(0, document.documentElement.scrollHeight);
      const height = document.documentElement.scrollHeight;
      for (let tries = 0; tries < 60 && document.documentElement.scrollHeight === height; tries += 1) await wait(20);
      reached = document.documentElement.scrollHeight;
    }
    const most = document.querySelectorAll(".wall .thumb").length;
    let gap = 0;
    let last = performance.now();
    for (let step = 0; step < 60; step += 1) {
      scrollBy(0, -innerHeight / 2);
      await new Promise(requestAnimationFrame);
      gap = Math.max(gap, performance.now() - last);
      last = performance.now();
    }
    const seen = [...document.querySelectorAll(".wall .thumb")].filter((one) => {
      const box = one.getBoundingClientRect();
      return box.bottom > 0 && box.top < innerHeight;
    }).length;
    return { reached, most, seen, gap, longest: globalThis.longestTask };
  });
  await page.unrouteAll();
  visit.check(
    /333,333 results/.test(await page.locator(".head .dim").textContent()),
    "the wall does not say how many there are",
  );
  visit.check(far.reached > 50_000, `only ${far.reached} pixels were reached`);
  visit.check(far.most < 400, `${far.most} tiles are in the page at once`);
  visit.check(far.seen >= 12, `only ${far.seen} tiles are seen after scrolling back`);
  visit.step(
    `    3,600 of 333,333 results read: ${far.most} tiles in the page, longest task ${Math.round(
      far.longest,
    )} ms, longest frame ${Math.round(far.gap)} ms`,
  );
}

async function jobPage(visit, page) {
  await visit.go("/console/create");
  await page
    .locator(".job", { has: page.locator(".made-row.n4") })
    .first()
    .locator(".words")
    .click();
  await page.waitForSelector(".timeline");
  await page.waitForSelector(".tree .leaf.here");
  await visit.look("job");
}

async function redeliver(visit, page) {
  let failing = true;
  const receiver = await listen((response) =>
    json(response, failing ? 500 : 200, { words: failing ? "not today" : "thank you" }),
  );
  const answer = await fetch(`${base}/artgen/v1/imagine`, {
    method: "POST",
    headers: { "SVC-API-KEY": key, "Content-Type": "application/json" },
    body: JSON.stringify({ prompt: "a postcard", hookUrl: `${receiver.url}/hook?x=${encodeURIComponent(HOSTILE)}` }),
  });
  const { data } = await answer.json();
  await visit.go(`/console/job/${data.jobId}`);
  await page.waitForFunction(() => /not today/.test(document.body.textContent), null, { timeout: 30_000 });
  failing = false;
  await page.getByRole("button", { name: "Send again" }).click();
  await page.waitForSelector(".tag.delivered", { timeout: 15_000 });
  visit.check(
    receiver.seen.every((one) => one.headers["webhook-signature"]),
    "a callback was not signed",
  );
  await visit.go("/console/account?part=callbacks");
  await page.fill("input[name=url]", `${receiver.url}/sample`);
  await page.getByRole("button", { name: "Send a sample" }).click();
  await page.waitForSelector(".sample .tag.delivered");
  visit.check(
    receiver.seen.some((one) => one.url === "/sample" && one.headers["webhook-id"]),
    "the sample did not arrive",
  );
  visit.check(/thank you/.test(await page.locator(".sample").textContent()), "the receiver's words are not shown");
  receiver.close();
}

async function keys(visit, page) {
  await visit.go("/console/account?part=keys");
  await page.getByRole("button", { name: "New key" }).click();
  await page.fill("#ask-name", HOSTILE.slice(0, 30));
  await page.locator("dialog .button", { hasText: "New key" }).click();
  const made = (await page.locator(".secret code").textContent()).trim();
  visit.check(made.startsWith("at_"), "a new key is not shown");
  await page.locator("dialog .button", { hasText: "Done" }).click();
  const works = () =>
    fetch(`${base}/artgen/v1/info`, { headers: { "SVC-API-KEY": made } }).then((answer) => answer.status);
  visit.check((await works()) === 200, "the new key does not work");
  const row = page.locator("tr", { hasText: HOSTILE.slice(0, 30) });
  await visit.choose(row, "Revoke");
  await page.locator("dialog .button", { hasText: "Revoke" }).click();
  await row.waitFor({ state: "detached" });
  visit.check((await works()) === 401, "the revoked key still works");
}

async function keyboard(visit, page) {
  await visit.go("/console/create");
  await page.waitForSelector(".form textarea");
  await page.locator("main").focus();
  // What only keeps room for results is none: keys have nothing to walk through before the list is there.
  let release = () => {};
  const held = new Promise((done) => {
    release = () => done(undefined);
  });
  await page.route("**/jobs/v1?*", async (route) => {
    await held;
    await route.continue();
  });
  await page.keyboard.press("g");
  await page.keyboard.press("l");
  await page.waitForFunction(() => location.pathname.endsWith("/library"));
  await page.locator(".wall .coming").first().waitFor();
  visit.check((await page.locator(".wall .thumb").count()) === 0, "room that is kept for results looks like results");
  release();
  await page.waitForSelector(".wall .thumb");
  await page.unroute("**/jobs/v1?*");
  await page.locator("main").focus();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".lightbox, .timeline");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.waitForSelector(".palette input");
  await page.fill(".palette input", "balloon");
  await page.waitForFunction(() => {
    const found = [...document.querySelectorAll(".palette li")];
    return found.length && found.every((one) => /balloon/.test(one.textContent));
  });
  await page.locator("dialog.palette").screenshot({ path: `${visit.folder}/palette-light.png` });
  await page.keyboard.press("Enter");
  await page.waitForSelector(".timeline, .form");
}

async function lost(visit, page) {
  await visit.go("/console/library");
  visit.expected = /ERR_INTERNET_DISCONNECTED/;
  await visit.context.setOffline(true);
  await page.waitForSelector(".notice", { timeout: 15_000 });
  await visit.context.setOffline(false);
  await page.waitForSelector(".notice", { state: "detached", timeout: 15_000 });
  visit.expected = undefined;
}

/**
 * The service is restarted under open pages, a caller's and then an operator's: each says so, heals, and goes on by
 * itself.
 */
async function restarted(visit, page, path, alive, { told = true } = {}) {
  await visit.go(path);
  visit.expected = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED_ENCODING|503/;
  await page.evaluate(() => {
    globalThis.neverReloaded = true;
  });
  const begun = performance.now();
  const starting = promisify(execFile)("sh", [process.env.RESTART]);
  // A page that asks now and then may not have asked in between.
  if (told) await page.waitForSelector(".notice", { timeout: 15_000 });
  await starting;
  await page.waitForSelector(".notice", { state: "detached", timeout: 30_000 });
  await alive();
  visit.check(await page.evaluate(() => globalThis.neverReloaded === true), `${path}: the page was loaded again`);
  visit.step(
    `    ${path} healed ${((performance.now() - begun) / 1000).toFixed(1)} s after the service was told to stop`,
  );
  await page.waitForTimeout(500);
  visit.expected = undefined;
}

async function restartedUnderCreate(visit, page) {
  await restarted(visit, page, "/console/create", async () => {
    const body = { prompt: "a heron after the restart" };
    await fetch(`${base}/artgen/v1/imagine`, {
      method: "POST",
      headers: { "SVC-API-KEY": key, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    await page
      .locator(".job", { hasText: "after the restart" })
      .locator(".made img")
      .first()
      .waitFor({ timeout: 60_000 });
  });
}

async function restartedUnderOverview(visit, page) {
  await restarted(
    visit,
    page,
    "/console/operator/overview",
    () =>
      page.waitForFunction(
        () =>
          /up for \d+ s/.test(document.querySelector(".head .dim")?.textContent || "") &&
          !document.querySelector(".notice, .problem"),
        null,
        { timeout: 20_000 },
      ),
    { told: false },
  );
}

/**
 * An own account: the vendor is chosen from the list, its own form comes up, the vendor is asked, the account goes
 * again.
 */
async function custody(visit, page) {
  const vendor = await listen((response) =>
    json(response, 401, {
      error: {
        message: "Incorrect API key provided: not yours",
        type: "invalid_request_error",
        code: "invalid_api_key",
      },
    }),
  );
  await visit.go("/console/account?part=custody");
  await page.getByRole("button", { name: "Add an account" }).click();
  await page.locator(".vendor", { hasText: "openai" }).first().waitFor();
  visit.check((await page.locator(".vendor").count()) > 10, "vendors are not there to choose from");
  await page.locator(".vendor", { hasText: "openai" }).first().click();
  await page.fill("#own-url", vendor.url);
  await page.fill("#own-cred", "sk-mine");
  await page.selectOption("#set-dialect", "localai");
  await page.fill("#set-image_model", HOSTILE);
  await visit.barriers("the form of an own account");
  await page.locator("dialog").screenshot({ path: `${visit.folder}/custody-form-light.png` });
  await page.fill("#set-image_model", "any");
  await page.locator("dialog .row .button", { hasText: "Add an account" }).click();
  await page.waitForSelector("dialog", { state: "detached" });
  const row = page.locator("tr", { hasText: vendor.url });
  await row.waitFor();
  visit.expected = /502|500|400/;
  await row.getByRole("button", { name: "Test" }).click();
  await page.waitForFunction(() => document.body.textContent.includes("not yours"), null, { timeout: 15_000 });
  visit.expected = undefined;
  await visit.look("account-custody");
  const kept = await fetch(`${base}/custody/v1/accounts`, { headers: { "SVC-API-KEY": key } }).then((answer) =>
    answer.json(),
  );
  visit.check(
    kept.data[0]?.settings?.dialect === "localai" || JSON.stringify(kept).includes("localai"),
    `the vendor's settings are not kept: ${JSON.stringify(kept.data[0])}`,
  );
  await visit.choose(row, "Remove");
  await page.locator("dialog .button", { hasText: "Remove" }).click();
  await row.waitFor({ state: "detached" });
  vendor.close();
}

/** A vendor that says what it took: the operator sees what is left of what callers paid. */
async function margins(visit, page) {
  const picture = Buffer.from(
    await fetch(`${base}/console/tiles/clips.webp`).then((answer) => answer.arrayBuffer()),
  ).toString("base64");
  const vendor = await listen((response) =>
    json(response, 200, { data: [{ b64_json: picture }], usage: { cost_in_usd_ticks: 200_000_000 } }),
  );
  const ask = (path, body, method = "POST") =>
    fetch(`${base}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }).then((answer) => answer.json());
  const { data: made } = await ask("/admin/v1/backends", {
    vendor: "xai",
    name: "counting",
    base_url: vendor.url,
    rank: 1,
    operations: ["imgmodel"],
    settings: {},
  });
  await ask(`/admin/v1/backends/${made.id}/accounts`, { name: "first", credential: "xai-none" });
  const answer = await fetch(`${base}/v1/images/generations`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ model: "image-1", prompt: "a ledger with a margin" }),
  });
  visit.check(
    answer.status === 200,
    `the counting vendor's job: ${answer.status} ${(await answer.text()).slice(0, 200)}`,
  );
  await visit.go("/console/operator/overview");
  const row = page
    .locator("section", { hasText: "Margin by vendor" })
    .locator("tr", { hasText: "counting" })
    .filter({ hasText: "USD" })
    .first();
  await row.waitFor({ timeout: 15_000 });
  const text = (await row.textContent()).replace(/\s+/g, " ");
  visit.check(/0\.02 USD/.test(text) && /\+ \d/.test(text), `the margin is not shown: ${text}`);
  await page.locator("tr", { hasText: "counting / first" }).waitFor();
  await visit.look("operator-overview");
  await ask(`/admin/v1/backends/${made.id}`, undefined, "DELETE");
  vendor.close();
}

async function languages(visit, page) {
  for (const [language, word] of [
    ["de", "Bibliothek"],
    ["zh", "作品库"],
    ["en", "Library"],
  ]) {
    await page.evaluate((name) => localStorage.setItem("atelier.language", name), language);
    await visit.go("/console/library");
    await page.waitForFunction((text) => document.querySelector("h1")?.textContent === text, word);
    visit.check(
      await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1),
      `${language}: wider than the window`,
    );
    if (language !== "en" && (await page.evaluate(drawn, word)))
      await page.screenshot({ path: `${visit.folder}/library-${language}.png` });
  }
}

async function backends(visit, page) {
  const words = "Incorrect API key provided: the moon is closed";
  const vendor = await listen((response) =>
    json(response, 401, { error: { message: words, type: "invalid_request_error", code: "invalid_api_key" } }),
  );
  await visit.go("/console/operator/backends");
  await page.getByRole("button", { name: "New back end" }).click();
  await page.locator(".vendor", { hasText: "openai" }).first().click();
  await page.fill("#be-name", "moon");
  await page.fill("#be-url", vendor.url);
  await page.fill("#be-cred", "sk-none");
  await page.fill("#set-image_model", "any");
  await page.selectOption("#set-dialect", "localai");
  await visit.barriers("the form of a vendor");
  await page.locator("dialog").screenshot({ path: `${visit.folder}/backend-form-light.png` });
  await page.locator("dialog .button", { hasText: "New back end" }).click();
  await page.waitForSelector("dialog", { state: "detached" });
  const card = page.locator(".backend", { hasText: "moon" });
  await card.waitFor();
  visit.expected = /502|500|400/;
  await card.getByRole("button", { name: "Test" }).first().click();
  await page.waitForFunction((text) => document.body.textContent.includes(text), "moon is closed", { timeout: 15_000 });
  visit.expected = undefined;
  await visit.look("operator-backends");
  await visit.choose(card.locator("tbody"), "Drain");
  await card.getByText("draining", { exact: false }).first().waitFor();
  await visit.choose(card, "Remove");
  await page.locator("dialog .button", { hasText: "Remove" }).click();
  await card.waitFor({ state: "detached" });
  vendor.close();
}

/** A universal vendor: its models are chosen and described line by line. */
async function mapping(visit, page) {
  const vendor = await listen((response) => json(response, 404, { detail: "no such request" }));
  await visit.go("/console/operator/backends");
  await page.getByRole("button", { name: "New back end" }).click();
  await page.locator(".vendor", { hasText: "fal" }).first().click();
  visit.check((await page.inputValue("#be-url")) === "https://queue.fal.run", "the usual address is not filled in");
  await page.fill("#be-url", vendor.url);
  await page.fill("#be-cred", "key:secret");
  await page.fill("#set-schema_url", "");
  await page.getByRole("button", { name: "Choose a model" }).click();
  await page.selectOption("#map-0-op", "artgen.imagine");
  await page.selectOption("#map-0-model", "");
  await page.fill("#map-0-name", "fal-ai/any-model");
  await page.getByRole("button", { name: "Add an input" }).click();
  await page.locator(".mapping .pair").last().locator("input").first().fill("seed");
  await page.locator(".mapping .pair").last().locator("input").nth(1).fill("{{seed}}");
  await page.locator(".mapping .pair").last().locator("input").nth(1).blur();
  await visit.barriers("the mapping editor");
  await page.locator("dialog").screenshot({ path: `${visit.folder}/backend-mapping-light.png` });
  await page.locator("dialog .row .button", { hasText: "New back end" }).click();
  await page.waitForSelector("dialog", { state: "detached" });
  const answer = await fetch(`${base}/admin/v1/backends`, { headers: { Authorization: `Bearer ${token}` } });
  const made = (await answer.json()).data.find((one) => one.name === "fal");
  visit.check(
    JSON.stringify(made?.settings?.models?.["artgen.imagine"]) ===
      JSON.stringify({ input: { prompt: "{{prompt}}", seed: "{{seed}}" }, model: "fal-ai/any-model" }) ||
      made?.settings?.models?.["artgen.imagine"]?.input?.seed === "{{seed}}",
    `the mapping is not kept: ${JSON.stringify(made?.settings)}`,
  );
  const card = page.locator(".backend", { hasText: "fal" });
  await visit.choose(card, "Remove");
  await page.locator("dialog .button", { hasText: "Remove" }).click();
  await card.waitFor({ state: "detached" });
  vendor.close();
}

/** A group of accounts: rules, a preview, its account, and what is refused, by a form. */
async function groups(visit, page) {
  // What is refused here is refused on purpose.
  visit.expected = /400|409/;
  const ask = (path, body, method = "POST") =>
    fetch(`${base}/admin/v1/${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }).then((answer) => answer.json());
  await visit.go("/console/operator/groups");
  await page.getByRole("link", { name: "New group" }).click();
  await page.fill("#group-name", "resellers");
  await page.getByRole("button", { name: "Add a rule" }).click();
  await page.fill("#rule-0-match", "nothing");
  await page.fill("#rule-0-value", "0.9");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator(".problem", { hasText: "rules[0].match" }).waitFor();
  await page.fill("#rule-0-match", "*");
  await page.getByRole("button", { name: "Add a rule" }).click();
  await page.fill("#rule-1-match", "artgen.imagine.fast");
  await page.selectOption("#rule-1-kind", "amount");
  await page.fill("#rule-1-value", "3");
  await page.fill("#rule-1-from", "2099-01-01");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.waitForSelector(".cost");
  await visit.look("operator-group-form");
  await page.getByRole("button", { name: "Save" }).click();
  const row = page.locator("tr", { hasText: "resellers" });
  await row.waitFor();
  const line = (await row.textContent()).replace(/\s+/g, " ");
  visit.check(
    /everything: × 0\.9/.test(line) && /artgen\.imagine\.fast: 3 in the price from/.test(line),
    `the group's line: ${line}`,
  );
  await visit.look("operator-groups");
  const account = (await ask("accounts?limit=100", undefined, "GET")).data.find(
    (one) => one.email === "demo@example.com",
  );
  await visit.go("/console/operator/accounts");
  await visit.choose(page.locator("tr", { hasText: account.email }), "Limits");
  await page.selectOption("#limit-group", "resellers");
  await page.locator("dialog .button", { hasText: "Save" }).click();
  await page.locator("tr", { hasText: account.email }).locator(".tag", { hasText: "resellers" }).waitFor();
  await visit.go("/console/operator/groups");
  await visit.choose(row, "Remove");
  await page.locator("dialog .button", { hasText: "Remove" }).click();
  await page.locator("dialog .problem", { hasText: "in use" }).waitFor();
  await page.keyboard.press("Escape");
  await ask(`accounts/${account.id}`, { group: "default" }, "PATCH");
  for (const [language, word] of [
    ["de", "Gruppen"],
    ["zh", "分组"],
    ["en", "Groups"],
  ]) {
    await page.evaluate((chosen) => localStorage.setItem("atelier.language", chosen), language);
    await visit.go("/console/operator/groups");
    await page.waitForFunction((text) => document.querySelector("h1")?.textContent === text, word);
    visit.check(
      await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1),
      `groups ${language}: wider than the window`,
    );
  }
  await visit.choose(row, "Remove");
  await page.locator("dialog .button", { hasText: "Remove" }).click();
  await row.waitFor({ state: "detached" });
  visit.expected = undefined;
}

/**
 * A vendor's new model is sold: by its form, with a preview, a test call at its price, and a colleague's change in
 * between.
 */
async function models(visit, page) {
  const name = "seedream/4-5";
  const picture = Buffer.from(
    await fetch(`${base}/console/tiles/clips.webp`).then((answer) => answer.arrayBuffer()),
  ).toString("base64");
  const vendor = await listen((response) => json(response, 200, { data: [{ b64_json: picture }] }));
  const ask = (path, body, method = "POST") =>
    fetch(`${base}/admin/v1/${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }).then((answer) => answer.json());
  const { data: made } = await ask("backends", {
    vendor: "xai",
    name: "painters",
    base_url: vendor.url,
    rank: 500,
    operations: ["imgmodel"],
    settings: {},
  });
  await ask(`backends/${made.id}/accounts`, { name: "first", credential: "xai-none" });
  const account = (await ask("accounts?limit=100", undefined, "GET")).data.find(
    (one) => one.email === "demo@example.com",
  );
  await visit.go("/console/operator/overview");
  await page.locator("main").focus();
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  await page.waitForFunction(() => document.querySelector("h1")?.textContent === "Models");
  await page.getByRole("link", { name: "New model" }).focus();
  await page.keyboard.press("Enter");
  await page.fill("#model-name", name);
  await page.fill("#model-title", HOSTILE);
  await page.selectOption("#model-like", "imgmodel/image-1");
  await page.locator("#rule-size summary").press("Enter");
  await page
    .locator("#rule-size .chip", { hasText: /^1024x1024$/ })
    .locator("input")
    .press("Space");
  await page.fill("#rule-size .add-word input", "2048x2048");
  await page.keyboard.press("Enter");
  await page.selectOption("#rule-size-default", "1024x1024");
  await page.locator("#rule-style summary").click();
  await page.locator("#rule-style .switch input").check();
  await page.selectOption("#price-unit", "item");
  await page.fill("#price-amount", "0.04");
  await page.selectOption("#price-factors", "size");
  await page.fill("#price-size-2048x2048", "2");
  await page.getByRole("button", { name: "Add a route" }).click();
  await page.selectOption("#route-0-backend", "painters");
  await page.fill("#route-0-model", "gpt-image-2");
  await page.fill("#model-aliases", "seedream");
  await visit.look("operator-model-form");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.waitForSelector(".cost");
  await page.getByRole("button", { name: "Save" }).click();
  const row = page.locator("tr", { hasText: name });
  await row.waitFor();
  const line = (await row.textContent()).replace(/\s+/g, " ");
  visit.check(
    /0\.04 per image, ×2 at 2048x2048/.test(line) && /painters \(gpt-image-2\)/.test(line),
    `the model's line: ${line}`,
  );
  visit.check((await row.textContent()).includes(HOSTILE), "a hostile title is not shown as text");
  await visit.look("operator-models");
  await visit.choose(row, "Test");
  await page.selectOption("#test-account", account.id);
  await page.fill("#test-words", "a heron in the reeds");
  await page.getByRole("button", { name: "Show the price" }).click();
  await page.getByRole("button", { name: "Make it 0.04 quota" }).waitFor();
  await visit.barriers("the test call of a model");
  await page.locator("dialog").screenshot({ path: `${visit.folder}/model-test-light.png` });
  await page.getByRole("button", { name: "Make it 0.04 quota" }).click();
  await page.locator(".test-result", { hasText: "done" }).locator("img").waitFor({ timeout: 60_000 });
  visit.check(/Paid 0\.04/.test(await page.locator(".test-result").textContent()), "the test call has another price");
  visit.check(
    vendor.seen.some((one) => /gpt-image-2/.test(one.text)),
    "the vendor was not asked for its own name of the model",
  );
  await page.locator("dialog .button", { hasText: "Close" }).click();
  await page.waitForSelector("dialog", { state: "detached" });
  await visit.settled();
  const left = (await ask(`accounts/${account.id}/keys`, undefined, "GET")).data.filter((one) =>
    one.name.startsWith("test of"),
  );
  visit.check(left.length === 0, "the key of the test call was not revoked");
  await modelConflict(visit, page, { name, row, ask });
  for (const [language, word] of [
    ["de", "Modelle"],
    ["zh", "模型"],
    ["en", "Models"],
  ]) {
    await page.evaluate((chosen) => localStorage.setItem("atelier.language", chosen), language);
    await visit.go("/console/operator/models");
    await page.waitForFunction((text) => document.querySelector("h1")?.textContent === text, word);
    visit.check(
      await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1),
      `models ${language}: wider than the window`,
    );
  }
  await visit.choose(row, "Remove");
  await page.locator("dialog .button", { hasText: "Remove" }).click();
  await row.waitFor({ state: "detached" });
  await ask(`backends/${made.id}`, undefined, "DELETE");
  vendor.close();
}

/** A colleague saves first: their change is shown, and ours goes over it without undoing theirs. */
async function modelConflict(visit, page, { name, row, ask }) {
  await row.getByRole("link", { name: "Change" }).click();
  await page.waitForSelector("#price-amount");
  const path = `models/${encodeURIComponent(name)}`;
  const { data: seen } = await ask(path, undefined, "GET");
  await ask(path, { revision: seen.revision, title: "Seedream 4.5" }, "PATCH");
  await page.fill("#price-amount", "0.05");
  visit.expected = /409/;
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.locator(".conflict", { hasText: "Seedream 4.5" }).waitFor();
  await visit.barriers("a model that somebody else changed");
  await page.locator(".conflict").screenshot({ path: `${visit.folder}/model-conflict-light.png` });
  await page.getByRole("button", { name: "Overwrite it with mine" }).click();
  await row.waitFor();
  visit.expected = undefined;
  const { data: now } = await ask(path, undefined, "GET");
  visit.check(
    now.title === "Seedream 4.5" && Number(now.price.amount) === 0.05 && now.revision === seen.revision + 2,
    `both changes are not kept: ${JSON.stringify(now)}`,
  );
}

/** A caller sees the price of an operator's model where it is chosen. */
async function modelForCallers(visit, page) {
  const ask = (path, body, method) =>
    fetch(`${base}/admin/v1/${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  await ask(
    "models",
    {
      name: "seedream-4-5",
      title: "Seedream 4.5",
      like: "imgmodel/image-1",
      price: { unit: "item", amount: 0.04 },
    },
    "POST",
  );
  await visit.go("/console/create?op=imgmodel.generations");
  const chip = page.locator(".form .chip", { hasText: "seedream-4-5" });
  // What it costs stands beside its name before it is chosen.
  await chip.getByText("0.04").waitFor();
  await chip.click();
  await page.getByText("Seedream 4.5 · 0.04 per image").waitFor();
  await page.waitForFunction(() => /0\.04/.test(document.querySelector(".make span")?.textContent || ""));
  await page.fill(".form textarea", "a heron in the reeds");
  await page.click(".form .make");
  await page
    .locator(".job", { hasText: "a heron in the reeds" })
    .locator(".made img")
    .first()
    .waitFor({ timeout: 60_000 });
  await ask("models/seedream-4-5", undefined, "DELETE");
}

/** Banned words are edited, hold at once, and are allowed again. */
async function bannedWords(visit, page) {
  const ask = (prompt) =>
    fetch(`${base}/artgen/v1/promptCheck`, {
      method: "POST",
      headers: { "SVC-API-KEY": key, "Content-Type": "application/json" },
      body: JSON.stringify({ prompt }),
    }).then((answer) => answer.status);
  await visit.go("/console/operator/words");
  await page.waitForSelector("#banned");
  const before = await page.inputValue("#banned");
  await page.fill("#banned", `${before}\n<b>purple</b> cheese\nmoon`);
  await page.waitForSelector("text=Banned from now on");
  await visit.look("operator-words");
  await page.getByRole("button", { name: "Save" }).click();
  await page.waitForSelector("text=The new list applies.");
  visit.check((await ask("a moon over hills")) === 400, "an added word is not banned");
  await page.fill("#banned", before);
  await page.getByRole("button", { name: "Save" }).click();
  await page.waitForSelector("text=The new list applies.");
  visit.check((await ask("a moon over hills")) === 200, "a removed word is still banned");
}

/** Jobs that others make appear by themselves, and nobody asks for them again and again. */
async function told(visit, page) {
  await visit.go("/console/create");
  await page.waitForSelector(".form textarea");
  const asked = [];
  const count = (request) => {
    if (/\/jobs\/v1\/[^/]+$/.test(new URL(request.url()).pathname) && request.resourceType() !== "eventsource")
      asked.push(request.url());
  };
  page.on("request", count);
  const body = { prompt: "seven geese told by the stream" };
  await fetch(`${base}/artgen/v1/imagine`, {
    method: "POST",
    headers: { "SVC-API-KEY": key, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  await page.locator(".job", { hasText: "seven geese" }).locator(".made img").first().waitFor({ timeout: 60_000 });
  page.off("request", count);
  visit.check(asked.length <= 3, `the page asked ${asked.length} times about jobs`);
}

async function accounts(visit, page) {
  await visit.go("/console/operator/accounts");
  const row = page.locator("tr", { hasText: "demo@example.com" });
  const before = await row.locator("td.number").first().textContent();
  await row.getByText("Grant quota").click();
  await page.fill("#ask-amount", "25");
  await page.fill("#ask-reason", HOSTILE);
  await page.locator("dialog .button", { hasText: "Grant quota" }).click();
  await page.waitForSelector("dialog", { state: "detached" });
  await page.waitForFunction((text) => document.querySelector("td.number")?.textContent !== text, before);
  await page.getByRole("button", { name: "New account" }).click();
  await page.fill("#ask-email", "second@example.com");
  await page.locator("dialog .button", { hasText: "New account" }).click();
  await page.waitForSelector(".secret code");
  await page.locator("dialog .button", { hasText: "Done" }).click();
  const second = page.locator("tr", { hasText: "second@example.com" });
  await second.waitFor();
  await visit.choose(second, "Limits");
  await page.fill("#limit-max_queue", "7");
  await visit.barriers("the form of limits");
  await page.locator("dialog").screenshot({ path: `${visit.folder}/limits-light.png` });
  await page.locator("dialog .button", { hasText: "Save" }).click();
  await page.waitForSelector("dialog", { state: "detached" });
  await page.waitForFunction(() =>
    [...document.querySelectorAll("tr")].some(
      (one) =>
        /second@/.test(one.textContent) &&
        [...one.querySelectorAll("td.number")].some((cell) => cell.textContent === "7"),
    ),
  );
  await visit.choose(second, "View as");
  await page.waitForSelector(".looking");
  await page.getByRole("button", { name: "Stop looking" }).click();
  await page.waitForSelector(".looking", { state: "detached" });
}

async function prices(visit, page) {
  await visit.go("/console/operator/prices");
  await page.locator(".prices label", { hasText: "imagine.fast" }).first().locator("input").fill("40");
  await page.waitForSelector("text=What the last week would have cost");
  await page.waitForFunction(() => /\+/.test(document.querySelector("section[role=status] .large")?.textContent || ""));
  await visit.look("operator-prices");
  await page.getByRole("button", { name: "Undo" }).click();
}

async function operators(visit, page) {
  await visit.go("/console/operator/operators");
  await page.getByRole("button", { name: "New operator" }).click();
  await page.fill("#ask-name", "night-shift");
  await page.selectOption("#ask-role", "viewer");
  await page.locator("dialog .button", { hasText: "New operator" }).click();
  await page.waitForSelector(".secret code");
  await page.locator("dialog .button", { hasText: "Done" }).click();
  await page.locator("tr", { hasText: "night-shift" }).waitFor();
  await visit.look("operator-operators");
}

async function documents(visit, page) {
  await visit.look("docs", "/docs");
  await page.fill(".find input", "negative_prompt");
  await page.waitForSelector(".found li .code");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".docs-op");
  await visit.look("docs-family", "/docs/art-images");
  const operation = page.locator("[id='artgen.imagine']");
  await operation.getByRole("button", { name: "Try it" }).click();
  await operation.locator("input[name=key]").fill(key);
  await operation.getByRole("button", { name: "Send" }).click();
  await operation.locator(".docs-try .tag.delivered").waitFor();
  await visit.look("docs-errors", "/docs/errors");
  await visit.look("docs-guide", "/docs/guide/callbacks");
}

/** What the pictures in the documents show on the first page: prompts whose results look like what they say. */
async function poster() {
  const prompts = ["a red kite over green hills", "a fox in snow", "a lighthouse at dawn"];
  for (const prompt of prompts) await made({ base, key }, prompt);
  await visit.go("/console/create?op=artgen.imagine");
  await page.fill(".form textarea", "a sailing boat at sunset");
  await page.locator(".job", { hasText: "a lighthouse at dawn" }).locator(".made img").first().waitFor();
}

const visit = await Visit.begin(base, folder);
const { page } = visit;
const tell = (name, story) => visit.tell(name, () => story(visit, page));
await visit.look("sign-in", "/console/");
await firstStory(visit, { link, key });
await tell("paint a mask and repaint", repaint);
await tell("make and extend a clip", clip);
await tell("compare two results", compare);
await tell("a wall of very many results", longWall);
await tell("a job with its family", jobPage);
await tell("redeliver a callback, test a receiver", redeliver);
await tell("what others make appears by itself", told);
await tell("issue and revoke a key", keys);
await tell("by keyboard", keyboard);
await tell("a lost connection heals", lost);
await tell("the service is restarted under an open page", restartedUnderCreate);
await tell("other languages", languages);
await tell("results for the documents", poster);
for (const [name, path] of [
  ["create", "create"],
  ["library", "library"],
  ["account", "account"],
  ["account-ledger", "account?part=ledger"],
  ["account-keys", "account?part=keys"],
  ["account-callbacks", "account?part=callbacks"],
  ["account-custody-empty", "account?part=custody"],
])
  await tell(name, () => visit.look(name, `/console/${path}`));
await tell("an own account at a vendor", custody);
await callersTopics(visit, { base, key, token });
await tell("a model that an operator sells", modelForCallers);
await tell("the reference", documents);
await tell("sign in as an operator", () => visit.signIn(token));
await tell("credit an account", accounts);
await tell("add, test and drain a back end", backends);
await tell("map a universal vendor's model", mapping);
await tell("sell a vendor's new model", models);
await tell("prices of a group", groups);
await tell("ban and allow a word", bannedWords);
await tell("prices with a preview", prices);
await operatorsTopics(visit, { base, key, token });
await tell("operators", operators);
await tell("margins of a vendor that says what it took", margins);
await tell("the service is restarted under the overview", restartedUnderOverview);
for (const room of ["jobs", "accounts", "callbacks", "audit"])
  await tell(room, () => visit.look(`operator-${room}`, `/console/operator/${room}`));
visit.step(
  `${Math.round(visit.bytes / 1000)} kB of console and documents in all, longest task ${Math.round(visit.longest)} ms`,
);
process.exit((await visit.end()).length ? 1 : 0);
