// Statements, exports and notices: what an account takes home, what an operator closes, and who is told of what.
import { createServer } from "node:http";

/** A receiver that keeps what is posted to it. */
async function inbox() {
  const posts = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (piece) => {
      text += piece;
    });
    request.on("end", () => {
      posts.push({ path: request.url, headers: request.headers, body: JSON.parse(text || "null") });
      response.end();
    });
  });
  await new Promise((done) => {
    server.listen(0, "127.0.0.1", () => done(undefined));
  });
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { posts, url: `http://127.0.0.1:${port}/notices`, close: () => server.close() };
}

/** What a link hands out as a file. */
async function taken(page, link) {
  const [file] = await Promise.all([page.waitForEvent("download"), link.click()]);
  const chunks = [];
  for await (const chunk of await file.createReadStream()) chunks.push(chunk);
  return { name: file.suggestedFilename(), bytes: Buffer.concat(chunks) };
}

/** A statement is made when it is asked for, as a table and as a page that prints; then it stands in the list. */
export async function statementsAndExports(visit, page, place) {
  await visit.signIn(place.before);
  await visit.go("/console/account?part=statements");
  const row = page.locator("section", { hasText: "Statements" }).locator("tbody tr").first();
  await row.waitFor();
  visit.check(/not made/i.test(await row.textContent()), "a statement that nobody asked for is made");
  const table = await taken(page, row.getByRole("link", { name: "CSV" }));
  visit.check(/^statement-\d{4}-\d{2}\.csv$/.test(table.name), `the file is called ${table.name}`);
  visit.check(/\r\nclosing,/.test(table.bytes.toString()), "the table has no closing line");
  const [paper] = await Promise.all([page.waitForEvent("popup"), row.getByRole("link", { name: "Print" }).click()]);
  await paper.waitForLoadState();
  const said = await paper.textContent("body");
  const isTold = /harbour@example\.com/.test(said) && /invoice 2026-201/.test(said);
  visit.check(isTold, "the page says nothing of the account");
  await paper.close();
  await visit.go("/console/account?part=statements");
  await row.locator(".tag.delivered").waitFor();
  const exports = page.locator("section", { hasText: "Exports" });
  const jobs = await taken(page, exports.getByRole("link", { name: "CSV" }).first());
  visit.check(/^jobs-.*\.csv$/.test(jobs.name), `the file is called ${jobs.name}`);
  visit.check(jobs.bytes.toString().split("\r\n").length > 9, "the export has too few rows");
  const all = await taken(page, exports.getByRole("link", { name: "ZIP" }));
  visit.check(all.bytes.subarray(0, 2).toString() === "PK", "the archive is no ZIP file");
  await visit.look("statements", "/console/account?part=statements");
  await visit.signIn(place.key);
}

/** Whoever wants to be told says what and where, tries it, is told, and sees what was told. */
export async function noticesAreSent(visit, page, place) {
  const there = await inbox();
  await visit.signIn(place.before);
  await visit.go("/console/account?part=notices");
  await page.getByRole("button", { name: "Subscribe" }).first().click();
  const dialog = page.locator("dialog[open]");
  await dialog.locator("[name=kind]").selectOption("limit_80");
  await dialog.locator("[name=channel]").selectOption("webhook");
  await dialog.locator("[name=address]").fill(there.url);
  await dialog.getByRole("button", { name: "Subscribe" }).click();
  const row = page.locator("tbody tr", { hasText: there.url });
  await row.getByRole("button", { name: "Send a sample" }).click();
  await page.locator("[role=status] .tag.delivered").waitFor();
  visit.check(there.posts.length === 1 && there.posts[0].headers["webhook-signature"], "the sample is not signed");
  const ask = (path, body, key = place.before) =>
    fetch(`${place.base}${path}`, {
      method: "POST",
      headers: { "SVC-API-KEY": key, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    }).then((answer) => answer.json());
  const limits = [{ window: "day", quota: 5 }];
  const { data: key } = await ask("/account/v1/keys", { name: "posters", limits });
  for (let at = 0; at < 4; at += 1)
    await ask("/v1/images/generations", { prompt: "a poster", model: "image-1", quality: "low" }, key.api_key);
  while (there.posts.length < 2) await page.waitForTimeout(200);
  visit.check(/posters/.test(there.posts[1].body.text), `it was told: ${JSON.stringify(there.posts[1].body)}`);
  await page.waitForTimeout(500);
  await visit.go("/console/account?part=notices");
  const told = page.locator("tbody tr", { hasText: "posters" });
  await told.locator(".tag.delivered").first().waitFor();
  await visit.look("notices", "/console/account?part=notices");
  await row.getByRole("button", { name: "Unsubscribe" }).click();
  await row.waitFor({ state: "detached" });
  there.close();
  await visit.signIn(place.key);
}

/** An operator closes the month that is over, sees whose books are closed, and takes the rows of all accounts. */
export async function monthIsClosed(visit, page) {
  await visit.go("/console/operator/books");
  const row = page.locator("section").first().locator("tbody tr").first();
  await row.getByRole("button", { name: "Close the month" }).click();
  await page.locator("dialog[open]").getByRole("button", { name: "Close the month" }).click();
  await page.waitForTimeout(500);
  for (let tries = 0; tries < 30; tries += 1) {
    await visit.go("/console/operator/books");
    if (await row.locator(".tag.delivered").count()) break;
    await page.waitForTimeout(500);
  }
  await row.locator(".tag.delivered").waitFor();
  await row.getByRole("link").first().click();
  await page.locator("tbody tr", { hasText: "harbour@example.com" }).locator(".tag.delivered").waitFor();
  const exports = page.locator("section", { hasText: "Exports" });
  const ledger = await taken(page, exports.getByRole("link", { name: "JSON" }).nth(1));
  const first = JSON.parse(ledger.bytes.toString().split("\n")[0]);
  visit.check(first.accountId, "nobody knows whose the rows are");
  await visit.look("books");
}

/** What operators are told may go to a private address. */
export async function operatorsAreTold(visit, page) {
  const there = await inbox();
  await visit.go("/console/operator/notices");
  await page.getByRole("button", { name: "Subscribe" }).first().click();
  const dialog = page.locator("dialog[open]");
  await dialog.locator("[name=channel]").selectOption("slack");
  await dialog.locator("[name=address]").fill(there.url);
  await dialog.getByRole("button", { name: "Subscribe" }).click();
  const row = page.locator("tbody tr", { hasText: "Slack" });
  await row.getByRole("button", { name: "Send a sample" }).click();
  await page.locator("[role=status] .tag.delivered").waitFor();
  visit.check(typeof there.posts[0].body.text === "string", "Slack was sent what it does not read");
  await visit.look("op-notices");
  await row.getByRole("button", { name: "Unsubscribe" }).click();
  await row.waitFor({ state: "detached" });
  there.close();
}
