// What somebody has typed is kept: while a picture is uploaded, when a dialog is pressed beside a field, from page to
// page, and without a connection. What is asked for is in sight and has a price before it is asked for.

import { made } from "./results.mjs";

/** A small picture that is really one, as large as is wanted. */
export async function picture(page, bytes = 0) {
  const url = await page.evaluate(() => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [720, 1280];
    const context = canvas.getContext("2d");
    for (let at = 0; at < 40; at += 1) {
      context.fillStyle = `hsl(${at * 9} 60% 50%)`;
      context.fillRect(0, at * 32, 720, 32);
    }
    return canvas.toDataURL("image/png");
  });
  const png = Buffer.from(url.split(",")[1], "base64");
  // A chunk of comments before the last one: any reader passes it over.
  if (png.length >= bytes) return png;
  const text = Buffer.alloc(bytes - png.length, 46);
  const chunk = Buffer.concat([Buffer.from("tEXt"), Buffer.from("note\0"), text]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(chunk.length - 4);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc(chunk));
  return Buffer.concat([png.subarray(0, png.length - 12), length, chunk, sum, png.subarray(png.length - 12)]);
}

function crc(bytes) {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return ~sum >>> 0;
}

const choose = async (page, bytes = 0) =>
  page
    .locator(".form input[type=file]")
    .first()
    .setInputFiles({ name: "stripes.png", mimeType: "image/png", buffer: await picture(page, bytes) });

export async function typedWhileUploading(visit, page) {
  await visit.go("/console/create?op=motion.generations");
  await page.waitForSelector(".form textarea");
  let release = () => {};
  const held = new Promise((done) => {
    release = done;
  });
  await page.route("**/files/v1", async (route) => {
    await held;
    await route.continue();
  });
  await page.locator(".drop .plain").first().waitFor();
  await choose(page);
  await page.waitForSelector(".chosen.coming");
  await page.fill(".form textarea", "typed while the picture was on its way");
  release();
  await page.waitForSelector(".chosen img");
  await page.unroute("**/files/v1");
  const text = await page.inputValue(".form textarea");
  visit.check(text === "typed while the picture was on its way", `the upload changed the prompt: “${text}”`);
}

/** A picture of a megabyte goes into the form of every family: through the asset store, not inside the request. */
export async function largeReference(visit, page) {
  await visit.go("/console/create?op=vidgen_partner.generations");
  await page.waitForSelector(".form textarea");
  await choose(page, 1_100_000);
  await page.waitForSelector(".chosen img");
  await page.fill(".form textarea", "the stripes begin to wave");
  const answered = page.waitForResponse((answer) => answer.url().endsWith("/vidgen-partner/generations"));
  await page.click(".form .make");
  const answer = await answered;
  visit.check(answer.status() === 200, `a reference of a megabyte: ${answer.status()}`);
  await page.locator(".job", { hasText: "begin to wave" }).first().waitFor();
}

export async function dialogStaysOpen(visit, page) {
  await visit.go("/console/account?part=keys");
  await page.getByRole("button", { name: "New key" }).click();
  await page.fill("#ask-name", "a name that is long enough to select");
  const box = await page.locator("dialog").boundingBox();
  await page.mouse.click(box.x + 6, box.y + box.height - 6);
  visit.check((await page.locator("dialog").count()) === 1, "a click on a dialog's own edge closes it");
  const field = await page.locator("#ask-name").boundingBox();
  await page.mouse.move(field.x + 60, field.y + field.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x - 60, field.y + field.height / 2, { steps: 4 });
  await page.mouse.up();
  const open = (await page.locator("dialog").count()) === 1;
  visit.check(open, "selecting beyond a dialog's edge closes it");
  if (!open) return;
  visit.check((await page.inputValue("#ask-name")).startsWith("a name"), "what was typed is gone");
  await page.mouse.click(10, 10);
  await page.waitForSelector("dialog", { state: "detached" });
}

export async function draftIsKept(visit, page) {
  await visit.go("/console/create?op=imgmodel.generations");
  await page.waitForSelector(".form textarea");
  await page.fill(".form textarea", "a draft about a heron");
  await page.locator(".rooms a", { hasText: "Library" }).click();
  await page.waitForFunction(() => location.pathname.endsWith("/library"));
  await page.locator(".rooms a", { hasText: "Create" }).click();
  await page.waitForSelector(".form textarea");
  const text = await page.inputValue(".form textarea");
  visit.check(text === "a draft about a heron", `the draft is lost on the way: “${text}”`);
  await visit.go("/console/create");
  await page.waitForSelector(".form textarea");
  visit.check((await page.inputValue(".form textarea")) === "a draft about a heron", "the draft is lost by a reload");
}

export async function offlineIsTold(visit, page) {
  await visit.go("/console/create?op=artgen.imagine");
  await page.waitForSelector(".form textarea");
  await page.fill(".form textarea", "a gull without a connection");
  visit.expected = /ERR_INTERNET_DISCONNECTED/;
  await visit.context.setOffline(true);
  await page.click(".form .make");
  const told = await page
    .locator(".make-bar", { hasText: "No connection" })
    .waitFor({ timeout: 3000 })
    .then(
      () => true,
      () => false,
    );
  visit.check(told, "submitting without a connection says nothing");
  await visit.context.setOffline(false);
  await page.locator(".job", { hasText: "a gull without" }).locator(".made img").first().waitFor({ timeout: 60_000 });
  visit.check((await page.locator(".job", { hasText: "a gull without" }).count()) === 1, "the submit was made twice");
  visit.expected = undefined;
}

/** What "More settings" opens stands above the button that stays in sight. */
export async function settingsInSight(visit, page) {
  await page.setViewportSize({ width: 1360, height: 700 });
  await visit.go("/console/create?op=animegen.text_to_image");
  await page.waitForSelector(".form textarea");
  await page.getByRole("button", { name: "More settings" }).click();
  await page.waitForTimeout(700);
  const seen = await page.evaluate(() => {
    const first = document.querySelector(".form .more ~ .fields").querySelector("input, textarea, select");
    const box = first.getBoundingClientRect();
    const top = document.elementFromPoint(box.left + 4, box.top + box.height / 2);
    return top === first || first.contains(top);
  });
  visit.check(seen, "what more settings open is hidden");
  await page.setViewportSize({ width: 1360, height: 860 });
}

/** One question asks for the price and for every choice. */
export async function oneQuestion(visit, page) {
  const asked = [];
  const count = (request) => {
    if (request.url().endsWith("/account/v1/quote")) asked.push(request.postData());
  };
  page.on("request", count);
  await visit.go("/console/create?op=artgen.blend");
  await visit.go("/console/create?op=motion.generations");
  await page.waitForFunction(() => /\d/.test(document.querySelector(".make span")?.textContent || ""));
  await page.locator(".chip-price").first().waitFor();
  await visit.settled();
  page.off("request", count);
  const own = asked.filter((text) => JSON.parse(text).operation === "motion.generations");
  visit.check(own.length === 1, `${own.length} questions for the prices of one form`);
}

/** Before the second of two pictures is there, the price is that of two; nothing is asked that would be refused. */
export async function oneOfTwo(visit, page) {
  const asked = [];
  const note = (request) => {
    if (request.url().endsWith("/account/v1/quote")) asked.push(JSON.parse(request.postData()));
  };
  page.on("request", note);
  await visit.go("/console/create?op=artgen.blend");
  await page.locator(".form .drop").first().waitFor();
  await choose(page);
  await page.waitForSelector(".chosen img");
  await visit.settled();
  page.off("request", note);
  const own = asked.filter((one) => one.operation === "artgen.blend");
  const fewest = Math.min(...own.map((one) => one.request.imgBase64Array.length));
  visit.check(own.length > 0 && fewest === 2, `the price of ${fewest} pictures is asked for, where two are needed`);
  const said = await page.locator(".form .make span").textContent();
  visit.check(/\d/.test(said), `the price with one of two pictures: “${said}”`);
}

/** What makes something says beside its picture what that costs: asked for once, and nothing moves when it comes. */
export async function pricesOnTiles(visit, page) {
  const asked = [];
  let release = () => {};
  const held = new Promise((done) => {
    release = done;
  });
  await page.route("**/account/v1/quote", async (route) => {
    const { others } = JSON.parse(route.request().postData());
    if (others) {
      asked.push(others);
      await held;
    }
    await route.continue();
  });
  await page.goto(`${visit.base}/console/create?op=artgen.imagine`);
  await page.locator(".form .tile").first().waitFor();
  await page.waitForTimeout(600);
  const heights = () => page.locator(".form .tiles").evaluate((one) => one.getBoundingClientRect().height);
  const before = await heights();
  release();
  await page.waitForFunction(
    () => [...document.querySelectorAll(".form .tile-price")].filter((one) => /\d/.test(one.textContent)).length >= 4,
    null,
    { timeout: 5000 },
  );
  visit.check((await heights()) === before, "tiles grow when their prices come");
  visit.check(asked.length === 1, `${asked.length} questions for the prices of all tiles`);
  const tile = page.locator(".form .tile.active");
  const said = (await tile.textContent()).replace(/\s+/g, " ");
  const price = (await page.locator(".form .make span").textContent()).split("·")[0].trim();
  visit.check(said.includes(price), `the tile says “${said}”, the button “${price}”`);
  await page.unroute("**/account/v1/quote");
}

/** Nothing is offered that cannot be paid. */
export async function tooDear(visit, page, place) {
  await made(place, "a purse that is empty", { getUImages: true });
  await page.route("**/account/v1/quote", async (route) => {
    const answer = await route.fetch();
    const json = await answer.json();
    const dear = (price) => (typeof price === "number" ? 10_000_000 : price);
    await route.fulfill({
      response: answer,
      json: { ...json, data: { ...json.data, quota: 10_000_000, choices: (json.data?.choices || []).map(dear) } },
    });
  });
  await visit.go("/console/create?op=artgen.imagine");
  await page.locator(".make-bar", { hasText: "more than you have" }).waitFor();
  visit.check(await page.locator(".form .make").isDisabled(), "what cannot be paid can be asked for");
  const card = page.locator(".job", { hasText: "a purse that is empty" });
  await card
    .getByRole("button", { name: /^Upscale.*more than you have/ })
    .first()
    .waitFor({ state: "attached" });
  visit.check(
    (await card.locator(".on-picture:disabled").count()) >= 8,
    "follow-ups that cannot be paid can be asked for",
  );
  await page.unroute("**/account/v1/quote");
}

/** A field for videos takes videos, and one for pictures pictures; what a file has to be is said in the form. */
export async function fieldKinds(visit, page) {
  const accepts = () => page.locator(".form input[type=file]").first().getAttribute("accept");
  await visit.go("/console/create?op=vidgen.characters");
  await page.locator(".form .drop").first().waitFor();
  visit.check((await accepts()) === "video/*", `a field for videos takes ${await accepts()}`);
  await page.locator(".form .hint", { hasText: "no real people" }).waitFor();
  await visit.go("/console/create?op=design.image_to_image");
  await page.locator(".form .drop").first().waitFor();
  visit.check(/^image\//.test(await accepts()), `a field for pictures takes ${await accepts()}`);
  await visit.go("/console/create?op=imgmodel.legacy");
  await page.locator(".form textarea").first().waitFor();
  const ways = await page.locator(".form .what").textContent();
  visit.check(!/legacy/i.test(ways), `what is out of date is offered: ${ways}`);
}

/** Somebody says what to make first: the prompt is ready, what is wanted decides what can make it. */
export async function byIntent(visit, page) {
  await visit.go("/console/create?op=artgen.imagine");
  await page.waitForFunction(() => document.activeElement?.matches(".form textarea"));
  await page.keyboard.type("a heron at dusk");
  const intent = (name) => page.locator(".form > .segments").getByRole("button", { name, exact: true });
  visit.check((await page.locator(".form .tile").count()) >= 4, "what makes pictures is not offered");
  await intent("Edit an image").click();
  await page.locator(".form .drop").first().waitFor();
  visit.check((await page.inputValue(".form textarea")) === "a heron at dusk", "the words are lost with the intent");
  await visit.barriers("editing a picture");
  await intent("Swap a face").click();
  await page.waitForFunction(() => document.querySelectorAll(".form .drop").length === 2);
  await intent("A video").click();
  await page.locator(".form textarea").first().waitFor();
  await page.locator(".form .tile", { hasText: "Clips" }).click();
  await page.waitForFunction(() => location.search.includes("op=clipgen"));
  await intent("An image").click();
  await page.waitForFunction(() => location.search.includes("op=artgen.imagine"));
}

/** Shape, seed and pictures to go by are chosen, and stand in the prompt as the flags that they are. */
export async function flagsAsControls(visit, page) {
  await visit.go("/console/create?op=artgen.imagine");
  await page.locator(".flags .chip", { hasText: "16:9" }).click();
  await page.waitForFunction(() => /\d/.test(document.querySelector(".make span")?.textContent || ""));
  visit.check((await page.locator(".form .problem").count()) === 0, "a shape without words is complained of");
  await page.fill(".form textarea", "a heron --ar 3:2 --v 7");
  await page.locator(".flags .chip.active", { hasText: "3:2" }).waitFor();
  await page.locator(".flags .chip", { hasText: "9:16" }).click();
  await page.fill("#flag-seed", "77");
  await page.locator("#flag-seed").blur();
  await page.locator(".references summary").click();
  await page
    .locator(".references input[type=file]")
    .first()
    .setInputFiles({ name: "stripes.png", mimeType: "image/png", buffer: await picture(page) });
  await page.waitForFunction(() => /^http\S+ a heron/.test(document.querySelector(".form textarea").value));
  const text = await page.inputValue(".form textarea");
  visit.check(/ a heron --ar 9:16 --v 7 --seed 77$/.test(text), `the prompt says: ${text}`);
  await visit.barriers("a prompt's controls");
  await page.locator(".flags .chip", { hasText: "1:1" }).click();
  await page.fill("#flag-seed", "");
  await page.locator("#flag-seed").blur();
  await page.locator(".references .corner").first().click();
  await page.waitForFunction(() => document.querySelector(".form textarea").value === "a heron --v 7");
}

/** The form as JSON, both ways, with the call as it would be made. */
export async function formAsJson(visit, page) {
  await visit.go("/console/create?op=artgen.imagine");
  await page.fill(".form textarea", "a heron in JSON");
  await page.locator(".form").getByRole("button", { name: "JSON" }).click();
  await page.waitForFunction(() => /a heron in JSON/.test(document.querySelector("#as-json")?.value || ""));
  visit.check(
    /a heron in JSON/.test(await page.locator(".snippets pre").textContent()),
    "the call says something else",
  );
  await page.fill("#as-json", '{"prompt": "a stork", "mode": "rel');
  await page.locator(".as-json .problem").waitFor();
  await page.fill("#as-json", '{"prompt": "a stork", "mode": "relax"}');
  for (const kind of ["Python", "JavaScript", "atelier call", "curl"]) {
    await page.locator(".snippets .chip", { hasText: kind }).click();
    visit.check(/a stork/.test(await page.locator(".snippets pre").textContent()), `${kind} does not follow`);
  }
  await visit.barriers("the form as JSON");
  await page.locator(".form").getByRole("button", { name: "Form" }).click();
  await page.waitForFunction(() => document.querySelector(".form textarea")?.value === "a stork");
  await page.locator(".form .chip.active", { hasText: "relax" }).waitFor();
}

/** Whoever has made nothing yet finds samples, which fill the form in. */
export async function samplesToClick(visit, page) {
  await page.route(
    (url) => url.pathname === "/jobs/v1",
    (route) => route.fulfill({ json: { status: "SUCCESS", data: [], total: 0, page: 1, limit: 10 } }),
  );
  await visit.go("/console/create");
  await page.locator(".sample-of").nth(1).waitFor();
  await visit.barriers("samples");
  const sample = page.locator(".sample-of", { hasText: "Design images" });
  const text = (await sample.locator(".words").textContent()).trim();
  await sample.click();
  await page.waitForFunction((wanted) => document.querySelector(".form textarea")?.value === wanted, text);
  visit.check(/op=design/.test(page.url()), "a sample does not choose what makes it");
  await page.unrouteAll();
}
