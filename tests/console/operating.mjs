// What an operator is told is so: health, durations, results of tests; and nothing goes without a question.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { made } from "./results.mjs";

const admin =
  ({ base, token }) =>
  async (path, body, method = body ? "POST" : "GET") =>
    (
      await fetch(`${base}/admin/v1/${path}`, {
        method,
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
    ).json();

async function vendor() {
  const server = createServer((_, response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ error: { message: "Incorrect API key provided: closed today", code: "invalid_api_key" } }),
    );
  });
  await new Promise((done) => {
    server.listen(0, "127.0.0.1", () => done(undefined));
  });
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

/** Only what was seen to work is green; what a test found stands in its card. */
export async function healthIsTrue(visit, page, place) {
  const ask = admin(place);
  const server = await vendor();
  const rows = [];
  for (const name of ["harbour-empty", "harbour-untried"]) {
    rows.push(
      (await ask("backends", { vendor: "xai", name, base_url: server.url, rank: 900, operations: [], settings: {} }))
        .data,
    );
  }
  await ask(`backends/${rows[1].id}/accounts`, {
    name: "first",
    credential: "xai-none",
    per_minute: 7,
    hours: "08:00-20:00",
  });
  await page.setViewportSize({ width: 1360, height: 500 });
  const card = (name) => page.locator(".backend", { hasText: name });
  await overviewKnowsNothing(visit, page);
  await visit.go("/console/operator/backends");
  await card("harbour-untried").waitFor();
  const told = async (name) => (await card(name).locator("h2 .dot").first().textContent()).trim();
  visit.check(
    (await told("harbour-empty")) === "without a worker account",
    `without an account: ${await told("harbour-empty")}`,
  );
  visit.check((await told("harbour-untried")) === "not tested yet", `never tried: ${await told("harbour-untried")}`);
  visit.expected = /502|500|400/;
  await card("harbour-untried").getByRole("button", { name: "Test" }).first().click();
  const answer = card("harbour-untried").locator(".told");
  await answer.waitFor({ timeout: 15_000 }).catch(() => {});
  const inSight = await answer
    .evaluate((one) => {
      const box = one.getBoundingClientRect();
      return box.top >= 0 && box.bottom <= innerHeight;
    })
    .catch(() => false);
  visit.check(inSight && /closed today/.test(await answer.textContent()), "what a test found is not in its card");
  visit.expected = undefined;
  await page.waitForFunction(
    (name) =>
      [...document.querySelectorAll(".backend")].some(
        (one) =>
          one.textContent.includes(name) && !/not tried|^well/.test(one.querySelector("h2 .dot").textContent.trim()),
      ),
    "harbour-untried",
    { timeout: 15_000 },
  );
  await limitsAreCleared(visit, page, card("harbour-untried"), () => ask("backends"));
  await visit.choose(card("harbour-untried").locator("tbody"), "Remove");
  await page.locator("dialog", { hasText: "Remove first?" }).getByRole("button", { name: "Not now" }).click();
  visit.check(
    (await ask("backends")).data.find((one) => one.name === "harbour-untried").accounts.length === 1,
    "a worker account went without a question",
  );
  await page.setViewportSize({ width: 1360, height: 860 });
  for (const one of rows) await ask(`backends/${one.id}`, undefined, "DELETE");
  server.close();
}

/** The first page does not call well what was never tried. */
async function overviewKnowsNothing(visit, page) {
  await visit.go("/console/operator/overview");
  const row = page.locator("tr", { hasText: "harbour-untried" });
  await row.waitFor();
  const told = (await row.locator(".dot").textContent()).trim();
  visit.check(told === "not tested yet", `never tried, by the overview: ${told}`);
}

/** Emptying a worker account's hours and rate takes them away. */
async function limitsAreCleared(visit, page, card, read) {
  await visit.choose(card.locator("tbody"), "Change");
  await page.fill("#ask-hours", "");
  await page.fill("#ask-per_minute", "");
  await page.locator("dialog .button", { hasText: "Save" }).click();
  await page.waitForSelector("dialog", { state: "detached" });
  const { accounts } = (await read()).data.find((one) => one.name === "harbour-untried");
  visit.check(
    !accounts[0].hours && accounts[0].per_minute === 0,
    `hours “${accounts[0].hours}” and ${accounts[0].per_minute} a minute are left`,
  );
}

/** The share of twenty is that of all jobs, not that of the slowest kind. */
export async function durationOfAll(visit, page) {
  await page.route("**/admin/v1/overview", async (route) => {
    const answer = await route.fetch();
    const json = await answer.json();
    const row = (family, title, jobs, p95Ms) => ({ family, title, jobs, failed: 0, p50Ms: p95Ms, p95Ms, quota: jobs });
    json.data.families = [row("artgen", "Art images", 99, 4000), row("vidgen", "Videos", 1, 300_000)];
    json.data.p95Ms = 4000;
    await route.fulfill({ response: answer, json });
  });
  await visit.go("/console/operator/overview");
  const figure = page.locator(".figure", { hasText: "Duration p95" }).locator(".large");
  await figure.waitFor();
  visit.check((await figure.textContent()).trim() === "4 s", `p95 of all jobs: ${await figure.textContent()}`);
  await page.unroute("**/admin/v1/overview");
}

/** A vendor's form asks for what the vendor needs, before anything is sent. */
export async function vendorNeeds(visit, page) {
  await visit.go("/console/operator/backends");
  await page.getByRole("button", { name: "New back end" }).click();
  await page.locator(".vendor", { hasText: "openai" }).first().click();
  await page
    .locator("dialog", { hasText: "At least one of these is needed: Model for images, Model for videos" })
    .waitFor({ timeout: 5000 });
  visit.check(
    (await page.getAttribute("#set-image_model", "placeholder")) !== "as usual",
    "a model that is needed is said to be as usual",
  );
  visit.check(
    await page.locator("#set-image_model").evaluate(
      (one) =>
        /** @type
         * {HTMLInputElement} */ (one).required,
    ),
    "a model that is needed is not asked for",
  );
  await page.fill("#set-video_model", "sora-2");
  await page.waitForFunction(
    () =>
      !(
        /** @type
         * {HTMLInputElement} */ (document.querySelector("#set-image_model")).required
      ),
  );
  await page.keyboard.press("Escape");
}

/** Accounts and back ends are found by a part of their names, also by the search of all pages. */
export async function accountsAreFound(visit, page, place) {
  const ask = admin(place);
  for (let at = 0; at < 30; at += 1) await ask("accounts", { email: `crowd-${at}@example.com`, balance: 0 });
  await ask("accounts", { email: "needle@haystack.example", balance: 77 });
  await visit.go("/console/operator/accounts");
  await page.fill("input[type=search]", "NEEDLE");
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
  await page.locator("tr", { hasText: "needle@haystack.example" }).waitFor();
  await page.fill("input[type=search]", "");
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 25);
  await page.selectOption("select.order", "balance");
  await page.waitForFunction(() => /needle|demo/.test(document.querySelector("tbody tr")?.textContent || ""));
  await page.keyboard.press("Control+k");
  await page.fill(".palette input", "haystack");
  await page.locator(".palette li", { hasText: "needle@haystack.example" }).click();
  await page.locator("h1", { hasText: "needle@haystack.example" }).waitFor();
}

/** Whoever sees with the eyes of an account cannot change anything on the way, and leaves nothing among its keys. */
export async function viewAs(visit, page, place) {
  await visit.go("/console/operator/accounts?q=demo%40example.com");
  await visit.choose(page.locator("tr", { hasText: "demo@example.com" }), "View as");
  await page.waitForSelector(".looking");
  visit.check(
    (await page.locator(".rooms a", { hasText: "Back ends" }).count()) === 0,
    "back ends can be changed while looking",
  );
  await visit.go("/console/operator/backends");
  await page.waitForSelector(".looking");
  visit.check(
    (await page.getByRole("button", { name: "New back end" }).count()) === 0,
    "a back end can be added while looking",
  );
  const keys = await (await fetch(`${place.base}/account/v1/keys`, { headers: { "SVC-API-KEY": place.key } })).json();
  visit.check(!JSON.stringify(keys).includes("looked at"), "the visit stands among the account's keys");
  await page.getByRole("button", { name: "Stop looking" }).click();
  await page.waitForSelector(".looking", { state: "detached" });
}

/** The preview of prices comes without moving the field that is typed in. */
export async function priceStays(visit, page) {
  await visit.go("/console/operator/prices");
  const field = page.locator(".prices input").nth(2);
  await field.waitFor();
  const before = await field.boundingBox();
  await field.fill("41");
  await page.waitForSelector("text=What the last week would have cost");
  const after = await field.boundingBox();
  visit.check(before.y === after.y, `the field moved by ${after.y - before.y} pixels`);
  await page.getByRole("button", { name: "Undo" }).click();
}

/** An account has a page: what it has and used in a span of days, its movements, jobs, keys and limits. */
export async function accountPage(visit, page, place) {
  await made(place, "a ferry at noon");
  await visit.go("/console/operator/accounts");
  await page.getByRole("link", { name: "demo@example.com" }).click();
  await page.locator("h1", { hasText: "demo@example.com" }).waitFor();
  await page.locator(".chart").first().waitFor();
  visit.check(/demo@example.com/.test(await page.title()), `the page is called ${await page.title()}`);
  await page.getByRole("button", { name: "7 days" }).click();
  await page.locator("section.card h2", { hasText: "Last 7 days" }).waitFor();
  visit.check((await page.locator(".chart .bar-of").count()) === 7, "seven days are not seven bars");
  await page
    .locator(".chart svg")
    .first()
    .hover({ position: { x: 5, y: 40 } });
  await page.waitForFunction(() => /: 0$/.test(document.querySelector(".chart-said")?.textContent.trim() || ""));
  await page.locator(".chart svg").first().focus();
  await page.keyboard.press("End");
  await page.waitForFunction(() => /: [1-9]/.test(document.querySelector(".chart-said")?.textContent || ""));
  const days = page.locator(".date-range input");
  await days.nth(1).fill("2020-01-31");
  await days.nth(0).fill("2020-01-01");
  await page.waitForFunction(() => location.search.includes("from=2020-01-01"));
  await page.locator(".large", { hasText: /^\s*0/ }).first().waitFor();
  await page.getByRole("link", { name: "Ledger" }).click();
  await page.locator(".empty").first().waitFor();
  await page.getByRole("button", { name: "90 days" }).click();
  await page.locator("tbody tr").first().waitFor();
  await page.locator(".tabs").getByRole("link", { name: "Jobs" }).click();
  await page.locator("tbody tr", { hasText: "done" }).first().waitFor();
  await visit.barriers("the jobs of an account");
  await page.locator(".tabs").getByRole("link", { name: "Keys" }).click();
  await page.locator("tbody tr").first().waitFor();
  await page.locator(".tabs").getByRole("link", { name: "Limits" }).click();
  await page.locator(".facts").waitFor();
  await page.locator(".head .row-more").click();
  await page.waitForFunction(() => document.activeElement?.matches(".menu-line"));
  await page.keyboard.press("ArrowDown");
  const here = await page.evaluate(() => document.activeElement?.textContent.trim());
  visit.check(here === "Notes", `the second line of the menu is ${here}`);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement?.matches(".row-more"));
  await page.goBack();
  await visit.look("operator-account");
}

/** The jobs on an account's page are its own, in their own words; and they can be searched. */
export async function accountJobs(visit, page, place) {
  const ask = admin(place);
  const { data: other } = await ask("accounts", { email: "tram@example.com", balance: 50 });
  await made(place, "a ferry in the morning");
  await made({ base: place.base, key: other.api_key }, "a tram at night");
  await visit.go(`/console/operator/accounts/${other.id}?part=jobs`);
  await page.locator("tbody tr", { hasText: "a tram at night" }).waitFor({ timeout: 10_000 });
  visit.check((await page.locator("tbody tr").count()) === 1, "the jobs of an account are not its own alone");
  await page.getByRole("link", { name: "Search these jobs" }).click();
  await page.waitForFunction(() => location.pathname.endsWith("/operator/jobs"));
  await page.locator("tbody tr", { hasText: "a tram at night" }).waitFor();
  await page.fill(".head input[type=search]", "ferry");
  await page.locator(".empty", { hasText: "Nothing found" }).waitFor();
  await page.getByRole("link", { name: "Jobs of all accounts" }).click();
  await page.locator("tbody tr", { hasText: "a ferry in the morning" }).waitFor();
}

/** An operator gives an account a plan, plans another one, takes that back and ends it; its owner sees the same. */
export async function accountPlan(visit, page, place) {
  const ask = admin(place);
  const plans = { harbour: { quota: 300, rollover_cap: 40 }, jetty: { quota: 100 } };
  for (const [name, one] of Object.entries(plans)) await ask("plans", { ...one, name, every: "month" });
  const { data: account } = await ask("accounts", { email: "berth@example.com", balance: 5 });
  await visit.go(`/console/operator/accounts/${account.id}`);
  const card = page.locator("section.plan");
  const says = (...texts) =>
    page.waitForFunction(
      (wanted) => wanted.every((one) => document.querySelector("section.plan")?.innerText.includes(one)),
      texts,
    );
  const press = (name) => card.getByRole("button", { name }).click();
  await card.getByText("This account has none.").waitFor();
  await press("Give a plan");
  await page.selectOption("#ask-plan", "harbour");
  await visit.barriers("giving a plan");
  await page.locator("dialog .button", { hasText: "Give a plan" }).click();
  await says("harbour", "300 quota each month", "Renews", "up to 40", "nothing else is spent");
  const until = await card.locator("time").textContent();
  await page.locator(".credits li", { hasText: "plan" }).getByText("300 of 300").waitFor();
  await press("Change the plan");
  await page.selectOption("#ask-plan", "jetty");
  visit.check((await page.locator("#ask-from").count()) === 0, "a day is asked for that cannot be chosen");
  await page.locator("dialog .button", { hasText: "Change the plan" }).click();
  await says("harbour", `The plan jetty follows on ${until}.`);
  await press("Keep harbour");
  await card.getByText("follows on").waitFor({ state: "detached" });
  await press("End the plan");
  await page
    .locator("dialog", { hasText: `It ends on ${until}` })
    .getByRole("button", { name: "End the plan" })
    .click();
  await says(`Ends on ${until}`);
  await press("Keep harbour");
  await card.getByText("Ends on").waitFor({ state: "detached" });
  await press("End the plan");
  await page.locator("dialog .button", { hasText: "End the plan" }).click();
  await says(`Ends on ${until}`);
  await visit.look("operator-account-plan");
  for (const [language, ...words] of [
    ["de", "Tarif", "300 Guthaben jeden Monat", "bis zu 40", "wird nicht erneuert"],
    ["zh", "套餐", "每月 300 额度", "最多 40", "不再续期"],
  ]) {
    await page.evaluate((name) => localStorage.setItem("atelier.language", name), language);
    await visit.go(`/console/operator/accounts/${account.id}`);
    await says(...words);
  }
  await page.evaluate(() => localStorage.setItem("atelier.language", "en"));
  await visit.signIn(account.api_key);
  await visit.go("/console/account");
  await says("harbour", "300 quota each month", "up to 40", `Ends on ${until}`);
  visit.check((await card.getByRole("button").count()) === 0, "an owner is offered what only operators can do");
  await visit.look("account-plan");
  await visit.signIn(place.token);
}

/** A plan is made, changed and removed by its form, which asks for days only where there are days to ask for. */
export async function plansByForm(visit, page, place) {
  await admin(place)("groups", { name: "patrons", rules: [{ match: "*", factor: 0.8 }] });
  await visit.go("/console/operator/plans");
  await page.getByRole("button", { name: "New plan" }).click();
  await page.fill("#ask-name", "fortnight");
  await page.fill("#ask-quota", "70");
  visit.check(!(await page.locator("#ask-days").isVisible()), "days of a month are asked for");
  await page.selectOption("#ask-every", "days");
  await page.fill("#ask-days", "14");
  await page.fill("#ask-rollover_cap", "9");
  await page.selectOption("#ask-group", "patrons");
  await visit.barriers("the form of a plan");
  await page.locator("dialog .button", { hasText: "New plan" }).click();
  const row = page.locator("tr", { hasText: "fortnight" });
  const says = async (wanted) => {
    const text = (await row.locator("td").allInnerTexts()).slice(1, -1).join(" · ");
    visit.check(text === wanted, `the line of a plan: ${text}`);
  };
  await row.waitFor();
  await says("70 · each 14 days · 9 · patrons · nothing else is spent");
  await row.getByRole("button", { name: "Change" }).click();
  await page.selectOption("#ask-every", "year");
  await page.fill("#ask-rollover_cap", "");
  await page.selectOption("#ask-group", "");
  await page.selectOption("#ask-then", "pay_as_you_go");
  await page.locator("dialog .button", { hasText: "Change" }).click();
  await row.getByText("each year").waitFor();
  await says("70 · each year · – · – · pay as you go");
  await visit.look("operator-plans");
  await visit.choose(row, "Remove");
  await page.locator("dialog .button", { hasText: "Remove" }).click();
  await row.waitFor({ state: "detached" });
}

/** Vouchers are saved when they are made, redeemed on the page of an account, and revoked after a question. */
export async function vouchersSold(visit, page, place) {
  const { data: account } = await admin(place)("accounts", { email: "fair@example.com", balance: 5 });
  await visit.go("/console/operator/vouchers");
  await page.getByRole("button", { name: "New vouchers" }).click();
  await page.fill("#ask-count", "3");
  await page.fill("#ask-amount", "12");
  await page.fill("#ask-note", "spring fair");
  await page.fill("#ask-credit_days", "90");
  await visit.barriers("the form of vouchers");
  const [kept] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("dialog .button", { hasText: "New vouchers" }).click(),
  ]);
  const codes = readFileSync(await kept.path(), "utf8").match(/[0-9A-Z]{4}(-[0-9A-Z]{4}){3}/g) || [];
  visit.check(new Set(codes).size === 3, `three vouchers are saved as ${codes.length}`);
  const row = page.locator("tr", { hasText: "spring fair" });
  await row.getByText("0 of 3 redeemed").waitFor();
  await visit.signIn(account.api_key);
  await visit.go("/console/account");
  await page.getByRole("button", { name: "Redeem a code" }).click();
  visit.expected = /400/;
  await page.fill("#ask-code", "AAAA-AAAA-AAAA-AAAA");
  await page.locator("dialog .button", { hasText: "Redeem a code" }).click();
  await page.locator("dialog .problem").waitFor();
  visit.expected = undefined;
  await page.fill("#ask-code", codes[0].toLowerCase());
  await page.locator("dialog .button", { hasText: "Redeem a code" }).click();
  await page.locator(".credits li", { hasText: "voucher" }).getByText("12 of 12").waitFor();
  await page.locator("h1", { hasText: "17 quota free" }).waitFor();
  await visit.signIn(place.token);
  await visit.go("/console/operator/vouchers");
  await row.getByText("1 of 3 redeemed").waitFor();
  await row.getByRole("button", { name: "Revoke" }).click();
  await page.locator("dialog .button", { hasText: "Revoke" }).click();
  await row.locator(".tag", { hasText: "revoked" }).waitFor();
  await visit.look("operator-vouchers");
}

/** What operators note of an account stands on its page, until they say otherwise. */
export async function accountNotes(visit, page, place) {
  const { data: account } = await admin(place)("accounts", { email: "noted@example.com", balance: 50 });
  await visit.go(`/console/operator/accounts/${account.id}`);
  const write = async (text) => {
    await visit.choose(page.locator(".head"), "Notes");
    await page.fill("#ask-notes", text);
    await page.locator("dialog .button", { hasText: "Save" }).click();
    await page.waitForSelector("dialog", { state: "detached" });
  };
  await write("Pays by the year.\nAsk for Kim <b>first</b>.");
  await page.locator(".noted", { hasText: "Ask for Kim <b>first</b>." }).waitFor();
  await visit.barriers("notes on an account");
  await page.reload();
  await page.locator(".noted", { hasText: "Pays by the year." }).waitFor();
  await write("");
  await page.waitForSelector(".noted", { state: "detached" });
}

/** Callbacks and what operators did are narrowed down to a span of days, which stands in the address. */
export async function spansOfLists(visit, page) {
  for (const name of ["audit", "callbacks"]) {
    await visit.go(`/console/operator/${name}`);
    await page.locator("tbody tr, .empty").first().waitFor();
    const all = await page.locator("tbody tr").count();
    await page.locator(".date-range input").nth(1).fill("2020-01-31", { timeout: 5000 });
    await page.waitForFunction(() => location.search.includes("to=2020-01-31"));
    await page.locator(".empty", { hasText: "Nothing found" }).waitFor();
    await page.locator(".date-range").getByRole("button", { name: "All" }).click();
    await page.waitForFunction((rows) => document.querySelectorAll("tbody tr").length === rows, all);
    await visit.barriers(`${name} with days`);
  }
}

/** A back end has a page: how it is and was, what it made, which models lead to it, what went wrong. */
export async function backendPage(visit, page, place) {
  const vendorAt = await vendor();
  const ask = admin(place);
  const { data: row } = await ask("backends", {
    vendor: "xai",
    name: "harbour-page",
    base_url: vendorAt.url,
    rank: 2000,
    operations: ["imgmodel"],
    settings: {},
  });
  await ask(`backends/${row.id}/accounts`, { name: "first", credential: "xai-none" });
  await visit.go("/console/operator/backends");
  await page.getByRole("link", { name: "harbour-page" }).click();
  await page.locator("h1", { hasText: "harbour-page" }).waitFor();
  await page.locator("tbody tr", { hasText: "first" }).first().waitFor();
  await ask(`backends/${row.id}/probe`, {});
  await page.locator("tbody tr", { hasText: "closed today" }).first().waitFor({ timeout: 20_000 });
  await visit.look("operator-backend");
  await ask(`backends/${row.id}`, undefined, "DELETE");
  vendorAt.close();
}
