// Three walks through a new installation, as its persons take them: who makes pictures, who writes a program, who runs
// the service. Each step is done by hand and eye of a browser, has a picture and a sentence, and stops the walk if it
// cannot be done; the pictures and a page with the sentences are what the documents keep.
//
//   node walks.mjs BASE_URL LINK TOKEN KEY FOLDER [PERSON]   writes README.md and the pictures into FOLDER
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { small } from "./small.mjs";
import { Visit } from "./visit.mjs";

const [base, link, token, key, folder, person = ""] = process.argv.slice(2);
/** As wide as a page of documents shows it. */
const WIDTH = 1000;
const QUALITY = 0.6;
/** All pictures together. */
const MOST_BYTES = 1_400_000;

// A picture of where a walk stopped is not among those that are kept.
const visit = await Visit.begin(base, tmpdir());
const { page } = visit;
/** Draws the files, so that the page that is walked on stays under its own policy. */
const painter = await (await visit.browser.newContext()).newPage();
let bytes = 0;
mkdirSync(folder, { recursive: true });

/** A walk: `step` says what somebody does and sees, does it, and keeps what is to be seen then. */
async function walk(name, title, text, tell) {
  if (person && person !== name) return "";
  for (const file of readdirSync(folder)) if (file.startsWith(`${name}-`)) rmSync(join(folder, file));
  const lines = [];
  const step = async (said, act) => {
    await act();
    await visit.settled();
    await page.waitForTimeout(300);
    const file = `${name}-${String(lines.length + 1).padStart(2, "0")}.webp`;
    const picture = await small(painter, await page.screenshot(), { quality: QUALITY, width: WIDTH });
    bytes += picture.length;
    writeFileSync(join(folder, file), picture);
    const mark = `${lines.length + 1}. `;
    const below = " ".repeat(mark.length);
    lines.push(`${mark}${said}\n\n${below}![${title}, step ${lines.length + 1}](${file})\n`);
  };
  await visit.tell(`the walk of the ${name}`, () => tell(step));
  return [`## ${title}`, "", text, "", ...lines].join("\n");
}

const json = (response, status, body) => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
};

/** A server of the person's own: what receives callbacks, or a vendor. */
function listen(answer) {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => answer(response));
  });
  return new Promise((done) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
      done({ url: `http://127.0.0.1:${port}`, close: () => server.close() });
    });
  });
}

const dialog = (name) => page.locator("dialog .button", { hasText: name }).last();
const closed = () => page.waitForSelector("dialog", { state: "detached" });

async function creator(step) {
  await step(
    "The service has printed a link. It signs in, and the form is there with a price on its button.",
    async () => {
      await visit.signIn(link);
      await page.waitForFunction(() => /\d/.test(document.querySelector(".make span")?.textContent || ""));
    },
  );
  await step(
    "Words, and a shape that is chosen rather than typed. It stands in the prompt as the flag that it is.",
    async () => {
      await page.fill(".form textarea", "three balloons over a green valley, morning haze");
      await page.locator(".flags .chip", { hasText: "16:9" }).click();
    },
  );
  await step("The result, with what it took, what it cost and what can be done with it next.", async () => {
    await page.locator(".form textarea").press("Control+Enter");
    await page.locator(".job .made-row.n4 img").first().waitFor({ timeout: 60_000 });
  });
  await step("One picture as large as the window. Each follow-up says its price before it is asked for.", async () => {
    await page.locator(".job .picture").first().click();
    await page.waitForFunction(() => /\d/.test(document.querySelector(".lightbox .deed-price")?.textContent || ""));
  });
  await step("Enlarged, by one press.", async () => {
    await page
      .locator(".lightbox")
      .getByRole("button", { name: /^Upscale/ })
      .first()
      .click();
    await page.locator(".job .made-row.n1 img").first().waitFor({ state: "attached", timeout: 60_000 });
    await page.keyboard.press("Escape");
    await closed();
  });
  await step("A region is painted over, to be made anew in other words.", async () => {
    const card = page.locator(".job", { has: page.locator(".made-row.n1") }).first();
    await card.getByRole("button", { name: "Repaint a region" }).click();
    const canvas = page.locator(".mask-board canvas");
    await canvas.waitFor();
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + box.width * 0.35, box.y + box.height * 0.3);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.4, { steps: 8 });
    await page.mouse.up();
    await page.fill("#repaint-words", "a red balloon");
  });
  await step("Everything that was made, by day. It is found by its words.", async () => {
    await dialog("Done").click();
    await page.locator(".job", { hasText: "a red balloon" }).locator(".made img").first().waitFor({ timeout: 60_000 });
    await visit.go("/console/library?q=balloon");
    await page.locator(".wall .thumb").first().waitFor();
  });
  await step(
    "A link for somebody without an account shows this result and nothing else, for as long as is said.",
    async () => {
      await page.locator(".wall .thumb").first().click();
      await page.locator(".lightbox").getByRole("button", { name: "Share" }).click();
      await page.locator("#share-days").waitFor();
    },
  );
  await step("What is left, and where the rest went.", async () => {
    await visit.go("/console/account");
    await page.locator(".chart").first().waitFor();
  });
}

async function developer(step) {
  let failing = true;
  const receiver = await listen((response) =>
    json(response, failing ? 500 : 200, { words: failing ? "not today" : "thank you" }),
  );
  let secret = "";
  await step("The reference begins with one call that works.", () => visit.go("/docs"));
  await step("A key of the program's own, which may do what is ticked.", async () => {
    await visit.signIn(key);
    await visit.go("/console/account?part=keys");
    await page.getByRole("button", { name: "New key" }).click();
    await page.fill("#ask-name", "website");
  });
  await step("Its secret is shown this once.", async () => {
    await dialog("New key").click();
    secret = (await page.locator(".secret code").textContent()).trim();
  });
  await step("With a limit, nobody can spend more with it in a day than that.", async () => {
    await page.locator("dialog .button", { hasText: "Done" }).click();
    await closed();
    const row = page.locator("tr", { hasText: "website" });
    await row.getByRole("button", { name: "Limits" }).click();
    await page.fill("#ask-day", "50");
  });
  await step("Every operation can be tried where it is described.", async () => {
    await dialog("Save").click();
    await closed();
    await visit.go("/docs/art-images");
    const operation = page.locator("[id='artgen.imagine']");
    await operation.getByRole("button", { name: "Try it" }).click();
    await operation.locator("input[name=key]").fill(secret);
    await operation.getByRole("button", { name: "Send" }).click();
    await operation.locator(".docs-try .tag.delivered").waitFor();
    await operation.locator(".docs-try").scrollIntoViewIfNeeded();
  });
  await step(
    "A job of the program, with all that became of it: its receiver refused the callback, and says why.",
    async () => {
      const answer = await fetch(`${base}/artgen/v1/imagine`, {
        method: "POST",
        headers: { "SVC-API-KEY": secret, "Content-Type": "application/json" },
        body: JSON.stringify({ prompt: "a postcard from the coast", hookUrl: `${receiver.url}/hook` }),
      });
      const { data } = await answer.json();
      await visit.go(`/console/job/${data.jobId}`);
      await page.waitForFunction(() => /not today/.test(document.body.textContent), null, { timeout: 30_000 });
    },
  );
  await step("The receiver is repaired. The callback is sent again, and taken.", async () => {
    failing = false;
    await page.getByRole("button", { name: "Send again" }).click();
    await page.waitForSelector(".tag.delivered", { timeout: 15_000 });
    await page.locator(".tag.delivered").first().scrollIntoViewIfNeeded();
  });
  await step("The same request as a line for the shell, for Python or for JavaScript.", async () => {
    await visit.go("/console/create");
    const card = page.locator(".job", { hasText: "a postcard from the coast" }).first();
    await card.getByRole("button", { name: "Copy as" }).click();
    await page.locator(".snippets pre").waitFor();
  });
  await step("Every code that an error response can have, with what to do about it.", () => visit.go("/docs/errors"));
  await step("What each key has spent of its limit.", async () => {
    await visit.go("/console/account?part=keys");
    await page.locator("tr", { hasText: "website" }).waitFor();
  });
  receiver.close();
}

async function operator(step) {
  const picture = Buffer.from(
    await fetch(`${base}/console/tiles/clips.webp`).then((answer) => answer.arrayBuffer()),
  ).toString("base64");
  const vendor = await listen((response) => json(response, 200, { data: [{ b64_json: picture }] }));
  await step("What runs, how it does, and what wants to be looked at.", async () => {
    await visit.signIn(token);
    await visit.go("/console/operator/overview");
  });
  await step("A vendor is added by its own form.", async () => {
    await visit.go("/console/operator/backends");
    await page.getByRole("button", { name: "New back end" }).click();
    await page.locator(".vendor", { hasText: "openai" }).first().click();
    await page.fill("#be-name", "painters");
    await page.fill("#be-url", vendor.url);
    await page.fill("#be-cred", "sk-a-key-of-the-vendor");
    await page.fill("#set-image_model", "gpt-image-2");
    await page.selectOption("#set-dialect", "localai");
  });
  await step("It is there, and has not been tried yet: only what was seen to work is called well.", async () => {
    await dialog("New back end").click();
    await closed();
    await page.locator(".backend", { hasText: "painters" }).waitFor();
    await page.locator(".backend", { hasText: "painters" }).scrollIntoViewIfNeeded();
  });
  await step("A model of the vendor gets a name, a price and a route.", async () => {
    await visit.go("/console/operator/models?new=model");
    await page.fill("#model-name", "seedream-4-5");
    await page.fill("#model-title", "Seedream 4.5");
    await page.selectOption("#model-like", "imgmodel/image-1");
    await page.selectOption("#price-unit", "item");
    await page.fill("#price-amount", "0.04");
    await page.getByRole("button", { name: "Add a route" }).click();
    await page.selectOption("#route-0-backend", "painters");
    await page.fill("#route-0-model", "gpt-image-2");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.waitForSelector(".cost");
  });
  await step("Resellers pay less. The preview says what last week would have cost them.", async () => {
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator("tr", { hasText: "seedream-4-5" }).waitFor();
    await visit.go("/console/operator/groups?new=group");
    await page.fill("#group-name", "resellers");
    await page.getByRole("button", { name: "Add a rule" }).click();
    await page.fill("#rule-0-value", "0.8");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.waitForSelector(".cost");
  });
  await step("A plan gives its quota again every month.", async () => {
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator("tr", { hasText: "resellers" }).waitFor();
    await visit.go("/console/operator/plans");
    await page.getByRole("button", { name: "New plan" }).click();
    await page.fill("#ask-name", "studio");
    await page.fill("#ask-quota", "1000");
    await page.fill("#ask-rollover_cap", "200");
    await page.selectOption("#ask-group", "resellers");
  });
  await step("A customer has an account, and gets the plan.", async () => {
    await dialog("New plan").click();
    await closed();
    await visit.go("/console/operator/accounts");
    await page.getByRole("button", { name: "New account" }).click();
    await page.fill("#ask-email", "kim@studio.example");
    await dialog("New account").click();
    await page.locator(".secret code").waitFor();
    await page.locator("dialog .button", { hasText: "Done" }).click();
    await page.getByRole("link", { name: "kim@studio.example" }).click();
    await page.getByRole("button", { name: "Give a plan" }).click();
    await dialog("Give a plan").click();
    await page.locator("section.plan", { hasText: "Renews" }).waitFor();
    await page.locator(".credits").waitFor();
  });
  await step("A batch of vouchers for a fair. The codes are saved, and shown never again.", async () => {
    await visit.go("/console/operator/vouchers");
    await page.getByRole("button", { name: "New vouchers" }).click();
    await page.fill("#ask-count", "100");
    await page.fill("#ask-amount", "50");
    await page.fill("#ask-note", "spring fair");
    await Promise.all([page.waitForEvent("download"), dialog("New vouchers").click()]);
    await page.locator("tr", { hasText: "spring fair" }).waitFor();
  });
  await step("Somebody asks why a picture failed. Jobs of all accounts are found by their words.", async () => {
    await fetch(`${base}/artgen/v1/imagine`, {
      method: "POST",
      headers: { "SVC-API-KEY": key, "Content-Type": "application/json" },
      body: JSON.stringify({ prompt: "[[fail: the paint has run out]] a ship that never arrives" }),
    });
    await visit.go("/console/operator/jobs?q=ship");
    await page.locator("tbody tr", { hasText: "failed" }).first().waitFor({ timeout: 20_000 });
  });
  await step("Everything that operators did is kept, in a chain that cannot be changed unnoticed.", async () => {
    await visit.go("/console/operator/audit");
    await page.locator("tbody tr").first().waitFor();
  });
  vendor.close();
}

const parts = [
  await walk("creator", "Who makes pictures", "Somebody with an idea and no wish to read anything first.", creator),
  await walk("developer", "Who writes a program", "Somebody who puts the service behind an application.", developer),
  await walk("operator", "Who runs the service", "Somebody who sells what vendors make.", operator),
];
visit.check(bytes < MOST_BYTES, `the pictures of the walks are ${bytes} bytes`);
visit.step(`${Math.round(bytes / 1000)} kB of pictures`);
const found = await visit.end();
if (!found.length && !person)
  writeFileSync(
    join(folder, "README.md"),
    [
      "# Three walks",
      "",
      "Three persons on a new installation, step by step, as `scripts/console walks` has just taken them in a browser.",
      "It stops at what cannot be done. Receivers and vendors are servers on the same machine; what is made comes from",
      "the embedded engine.",
      "",
      ...parts,
    ].join("\n"),
  );
process.exit(found.length ? 1 : 0);
