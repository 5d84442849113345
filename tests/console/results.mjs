// What was made can be looked at, used and carried on wherever it is shown.
import { execFileSync } from "node:child_process";

const post = async ({ base, key }, path, body) =>
  (
    await fetch(`${base}${path}`, {
      method: "POST",
      headers: { "SVC-API-KEY": key, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    })
  ).json();
const get = async ({ base, key }, path) => (await fetch(`${base}${path}`, { headers: { "SVC-API-KEY": key } })).json();

/** A job of the account, waited for. */
export async function made(place, prompt, more = {}) {
  const { data } = await post(place, "/artgen/v1/imagine", { prompt, ...more });
  return ended(place, data.jobId);
}

/** What follows a job, waited for. */
async function followed(place, jobId, action) {
  const { data } = await post(place, "/artgen/v1/action", { jobId, action });
  return ended(place, data.jobId);
}

async function ended(place, id) {
  for (;;) {
    const { data: job } = await get(place, `/jobs/v1/${id}`);
    if (["SUCCESS", "FAILED"].includes(job.status)) return job;
    await new Promise((wake) => {
      setTimeout(wake, 100);
    });
  }
}

/** The price of repainting is there for a result of any shape, whose mask has to be as large as it is. */
export async function repaintPriced(visit, page, place) {
  const grid = await made(place, "a jetty at low tide --ar 16:9");
  const single = await followed(place, grid.jobId, "upsample1");
  visit.check(single.files[0].width > single.files[0].height, "the result is square");
  await visit.go(`/console/job/${single.jobId}`);
  await page.getByRole("button", { name: /^Repaint a region.*quota/ }).waitFor({ timeout: 8000 });
}

/** The picture that is shown large stays while others come. */
export async function lightboxStays(visit, page, place) {
  await made(place, "a bridge in fog", { getUImages: true });
  await visit.go("/console/create");
  await page.locator(".job", { hasText: "a bridge in fog" }).locator(".picture").first().click();
  await page.waitForSelector(".lightbox .stage img");
  const before = await page.locator(".lightbox .stage img").getAttribute("src");
  await made(place, "a second bridge comes", { getUImages: true });
  await page
    .locator(".job", { hasText: "a second bridge comes" })
    .locator(".made img")
    .first()
    .waitFor({ state: "attached", timeout: 30_000 });
  visit.check(
    (await page.locator(".lightbox .stage img").getAttribute("src")) === before,
    "another picture took the place of the one shown",
  );
  visit.check(
    /bridge in fog/.test(await page.locator(".lightbox .words").textContent()),
    "the lightbox tells of another picture",
  );
  await page.keyboard.press("Escape");
}

/** A grid's quarter opens, is used and is kept as that quarter. */
export async function quarters(visit, page, place) {
  const job = await made(place, "four herons in the reeds");
  await visit.go("/console/create");
  const card = page.locator(".job", { hasText: "four herons" });
  await card.locator(".picture").nth(2).click();
  await page.waitForSelector(".lightbox .stage img");
  await page.waitForFunction(() => document.querySelector(".lightbox .stage img")?.naturalWidth > 0);
  const shown = await page.evaluate(() => document.querySelector(".lightbox .stage img").naturalWidth);
  visit.check(
    shown === Math.floor(job.files[0].width / 2),
    `a quarter of ${job.files[0].width} is shown ${shown} wide`,
  );
  const [kept] = await Promise.all([
    page.waitForEvent("download"),
    page.locator(".lightbox").getByRole("button", { name: "Download" }).click(),
  ]);
  visit.check(/-3/.test(kept.suggestedFilename()), `the quarter is kept as ${kept.suggestedFilename()}`);
  await page.locator(".lightbox").getByRole("button", { name: "Use as input" }).click();
  await page.waitForSelector(".chosen img");
  await page.waitForFunction(() => document.querySelector(".chosen img")?.naturalWidth > 0);
  const used = await page.evaluate(() => document.querySelector(".chosen img").naturalWidth);
  visit.check(used === Math.floor(job.files[0].width / 2), `the quarter that is used is ${used} wide`);
}

/** "Make another" fills in everything that was asked. */
export async function makeAnother(visit, page, place) {
  const job = await made(place, "a kite over the dunes", { mode: "relax", getUImages: true });
  await visit.go(`/console/job/${job.jobId}`);
  await page.getByRole("button", { name: "Make another" }).click();
  await page.waitForSelector(".form textarea");
  visit.check((await page.inputValue(".form textarea")) === "a kite over the dunes", "the words are not filled in");
  const mode = await page.locator(".form .chip.active", { hasText: "relax" }).count();
  visit.check(mode === 1, "the speed is not filled in");
}

/** From the library and from a job's own page a result is carried on, with its price; and deleted, after a question. */
export async function actFromLibrary(visit, page, place) {
  const job = await made(place, "a lantern in the snow", { getUImages: true });
  await visit.go("/console/library?q=lantern");
  await page.locator(".wall .thumb").first().click();
  const upscale = page
    .locator(".lightbox")
    .getByRole("button", { name: /^Upscale/ })
    .first();
  await page.waitForFunction(() => /\d/.test(document.querySelector(".lightbox .deed-price")?.textContent || ""));
  await upscale.click();
  await page.locator(".lightbox .told", { hasText: "It has begun" }).waitFor();
  await page.keyboard.press("Escape");
  await visit.go(`/console/job/${job.jobId}`);
  await page
    .locator(".piece")
    .first()
    .getByRole("button", { name: /^Repaint a region.*quota/ })
    .waitFor();
  for (const name of ["Vary", "Animate", "Use as input", "Download", "Delete"]) {
    await page.locator(".piece").first().getByRole("button", { name }).first().waitFor();
  }
  await page.locator(".tree .leaf").nth(1).waitFor();
  await page.locator(".piece").first().getByRole("button", { name: "Delete" }).click();
  await page.locator("dialog .button", { hasText: "Delete" }).click();
  await page.waitForFunction(() => location.pathname.endsWith("/library"));
  visit.expected = /400|404/;
  const { code } = await get(place, `/jobs/v1/${job.jobId}`);
  visit.check(code === "job_not_found", `the deleted job answers ${code}`);
  visit.expected = undefined;
}

/** Any number can be marked; nothing is dropped on the way. */
export async function manyMarks(visit, page, place) {
  for (let round = 0; round < 10; round += 1) await made(place, `pebble number ${round}`);
  await visit.go("/console/library?q=pebble");
  await page.waitForFunction(() => document.querySelectorAll(".thumb-frame .mark input").length >= 10);
  const marks = page.locator(".thumb-frame .mark input");
  await marks.nth(0).click({ force: true });
  await marks.nth(9).click({ force: true, modifiers: ["Shift"] });
  const text = await page.locator(".marked-bar").textContent();
  visit.check(/\b10 marked/.test(text), `of ten marks there are left: ${text}`);
  const button = page.locator(".marked-bar .button", { hasText: "Download" });
  const [kept] = await Promise.all([page.waitForEvent("download"), button.click()]);
  const count = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip(), len(z.namelist()))";
  const read = execFileSync("python3", ["-c", count, await kept.path()], { encoding: "utf8" }).trim();
  visit.check(read === "None 10", `the archive of ten: ${read}`);
  await page.locator(".marked-bar .button", { hasText: "Delete" }).click();
  await page.locator("dialog .button", { hasText: "Delete" }).click();
  await page.waitForSelector("dialog", { state: "detached" });
  await page.waitForFunction(() => !document.querySelector(".marked-bar"));
  const left = await get(place, "/jobs/v1?q=pebble");
  visit.check(left.data.length === 0, `${left.data.length} of ten are left`);
}

/**
 * Jobs without pictures and failed ones say what they are; a file that is gone says so; clips can be told from
 * pictures.
 */
export async function tilesSpeak(visit, page, place) {
  await visit.go("/console/library");
  await page.waitForSelector(".wall .thumb");
  const seen = await page.evaluate(
    async () => (await (await fetch("/jobs/v1?limit=1&makes=picture&status=success")).json()).data[0],
  );
  const jobs = [
    { ...seen, jobId: "0", status: "FAILED", files: [], message: "[Invalid parameter] targetImage: no face was found" },
    { ...seen, jobId: "1", files: [{ ...seen.files[0], url: `${place.base}/assets/none.png` }] },
  ];
  await page.route(
    (url) => url.pathname === "/jobs/v1",
    (route) => route.fulfill({ json: { status: "SUCCESS", data: jobs, total: 2, page: 1, limit: 60 } }),
  );
  visit.expected = /40[34]/;
  await visit.go("/console/library");
  await page.waitForSelector(".thumb.text.bad");
  const failed = await page.locator(".thumb.text.bad").textContent();
  visit.check(/no face was found/.test(failed) && !/targetImage/i.test(failed), `a failed tile says: ${failed}`);
  const gone = await page.waitForSelector(".thumb .gone", { timeout: 5000 }).then(
    () => true,
    () => false,
  );
  visit.check(gone, "a picture that is gone is shown as broken");
  await page.unrouteAll();
  visit.expected = undefined;
}

/** Results are narrowed down by what was done and by which model; favourites and folders keep them together. */
export async function narrowed(visit, page, place) {
  const wanted = await made(place, "a copper kettle");
  await made(place, "a copper spoon");
  await visit.go("/console/library?q=copper");
  const frame = page.locator(".thumb-frame", { has: page.locator(`[data-job="${wanted.jobId}"]`) });
  await frame.waitFor();
  await page.locator(".filters select").first().selectOption("artgen.blend");
  await page.waitForFunction(() => location.search.includes("op=artgen.blend") && !document.querySelector(".thumb"));
  await page.locator(".filters select").first().selectOption("artgen.imagine");
  await page.waitForFunction(() => document.querySelectorAll(".thumb-frame").length === 2);
  visit.check((await page.locator(".filters select").count()) >= 3, "models cannot be chosen");
  await frame.hover();
  await frame.locator(".like").click();
  await page.locator(".filters select").last().selectOption("*");
  await page.waitForFunction(() => document.querySelectorAll(".thumb-frame").length === 1);
  await frame.locator(".mark input").click({ force: true });
  await page.locator(".marked-bar .button", { hasText: "Take out" }).click();
  await page.waitForFunction(() => !document.querySelector(".thumb-frame"));
  await visit.go("/console/library?q=copper");
  await frame.locator(".mark input").click({ force: true });
  await page.locator(".marked-bar .button", { hasText: "Put in a folder" }).click();
  await page.fill("#ask-fresh", "Kitchen");
  await page.locator("dialog .button", { hasText: "Put there" }).click();
  await page.locator(".filters select").last().selectOption("Kitchen");
  await page.waitForFunction(() => document.querySelectorAll(".thumb-frame").length === 1);
  await visit.barriers("a folder");
  await page.reload();
  await frame.waitFor();
  await page.getByRole("button", { name: /Remove the folder/ }).click();
  await page.waitForFunction(() => document.querySelectorAll(".thumb-frame").length > 1);
}

/** Several are marked by keyboard, and up to four are laid beside each other. */
export async function markedByKeyboard(visit, page, place) {
  for (let round = 0; round < 4; round += 1) await made(place, `marble number ${round}`, { getUImages: true });
  await visit.go("/console/library?q=marble");
  await page.waitForFunction(() => document.querySelectorAll(".thumb-frame").length === 4);
  await page.locator(".thumb").first().focus();
  for (let step = 0; step < 3; step += 1) await page.keyboard.press("Shift+ArrowRight");
  await page.waitForFunction(() => /\b4\b/.test(document.querySelector(".marked-bar")?.textContent || ""));
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector(".marked-bar"));
  await page.locator(".thumb").first().focus();
  await page.keyboard.press("x");
  await page.locator(".thumb").nth(3).focus();
  await page.keyboard.press("Shift+X");
  await page.waitForFunction(() => /\b4\b/.test(document.querySelector(".marked-bar")?.textContent || ""));
  await page.locator(".marked-bar .button", { hasText: "Compare" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".compare-beside figure").length === 4);
  await visit.barriers("four beside each other");
  await page.getByRole("button", { name: "With a slider" }).click();
  await page.locator(".compare-board").waitFor();
  await page.keyboard.press("Escape");
}

/** A job's page shows the whole family as a tree, also what others of it led to. */
export async function familyTree(visit, page, place) {
  const root = await made(place, "a pine on a cliff");
  const varied = await followed(place, root.jobId, "variation1");
  await followed(place, varied.jobId, "upsample1");
  const other = await followed(place, root.jobId, "upsample2");
  await visit.go(`/console/job/${other.jobId}`);
  await page.waitForFunction(() => document.querySelectorAll(".tree .leaf").length === 4);
  visit.check((await page.locator(".tree .tree .tree .leaf").count()) === 1, "the tree has no third generation");
  visit.check((await page.locator(".tree .leaf.here").count()) === 1, "the tree does not say where one is");
  await page.locator(".tree .leaf").first().click();
  await page.waitForFunction((id) => location.pathname.endsWith(id), root.jobId);
  // Without the first of them, the family begins with the next; what is gone is not asked for as if it were there.
  await visit.go("/console/account");
  await fetch(`${place.base}/jobs/v1/${root.jobId}`, { method: "DELETE", headers: { "SVC-API-KEY": place.key } });
  await visit.go(`/console/job/${varied.jobId}`);
  await page.waitForFunction(() => document.querySelectorAll(".tree .leaf").length === 2);
}

/** One result that is shown wide is sharp, and what is read for it is no whole picture. */
export async function wideIsMedium(visit, page, place) {
  const grid = await made(place, "a mill by a stream");
  const { data } = await post(place, "/artgen/v1/action", { jobId: grid.jobId, action: "upsample1" });
  for (let done = false; !done; ) {
    const { data: job } = await get(place, `/jobs/v1/${data.jobId}`);
    done = job.status === "SUCCESS";
    await page.waitForTimeout(100);
  }
  const read = [];
  const note = (answer) => {
    if (/\/(assets|thumbs)\//.test(answer.url())) read.push(new URL(answer.url()));
  };
  page.on("response", note);
  await visit.go("/console/create");
  const image = page.locator(".job .made-row.n1 img").first();
  await image.waitFor();
  await page.waitForFunction(() => document.querySelector(".job .made-row.n1 img")?.naturalWidth > 0);
  await visit.settled();
  page.off("response", note);
  const whole = read.filter((url) => url.pathname.startsWith("/assets/"));
  visit.check(whole.length === 0, `${whole.length} whole pictures are read on the first page`);
  const source = await image.evaluate((one) => one.currentSrc);
  visit.check(/size=medium/.test(source), `a wide picture is shown from ${source}`);
}

/** A result is shown to somebody without an account by a link, which can be taken back; all links are in one list. */
export async function sharedByLink(visit, page, place) {
  const job = await made(place, "a bell tower in mist", { getUImages: true });
  await visit.go(`/console/job/${job.jobId}`);
  const link = async () => {
    await page.locator(".piece").first().getByRole("button", { name: "Share" }).click({ timeout: 10_000 });
    await page.locator("dialog .chip", { hasText: "a day" }).click();
    await visit.barriers("sharing a result");
    await page.locator("dialog .button", { hasText: "Make a link" }).click();
    return page.locator("#share-url").inputValue();
  };
  const url = await link();
  const shown = await fetch(url);
  visit.check(
    shown.status === 200 && /^image\//.test(shown.headers.get("content-type")),
    `a link answers ${shown.status}`,
  );
  await page.locator("dialog .button", { hasText: "Take back" }).click();
  await page.locator("dialog .hint", { hasText: "shows nothing any more" }).waitFor();
  visit.check((await fetch(url)).status === 410, "a link that was taken back still shows something");
  await page.keyboard.press("Escape");
  const again = await link();
  await page.keyboard.press("Escape");
  await visit.go("/console/account?part=links");
  const row = page.locator("tbody tr", { has: page.locator(`a[href$="${job.jobId}"]`) });
  await row.getByRole("button", { name: "Take back" }).waitFor();
  await visit.barriers("all links");
  await row.getByRole("button", { name: "Take back" }).click();
  await row.waitFor({ state: "detached" });
  visit.check((await fetch(again)).status === 410, "a link that is gone from the list still shows something");
}
