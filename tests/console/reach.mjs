// Everybody reaches everything: titles and focus of pages, what has finished is announced, unknown addresses say so.

export async function titlesAndFocus(visit, page) {
  const titles = [];
  for (const path of ["create", "library", "account"]) {
    await visit.go(`/console/${path}`);
    await page.waitForSelector(".rooms");
    titles.push(await page.title());
  }
  visit.check(new Set(titles).size === 3 && titles[1].startsWith("Library"), `titles of pages: ${titles.join(", ")}`);
  await page.locator(".rooms a", { hasText: "Library" }).click();
  await page.waitForFunction(() => location.pathname.endsWith("/library"));
  const focus = await page
    .waitForFunction(() => document.activeElement?.id === "main", null, { timeout: 3000 })
    .then(
      () => true,
      () => false,
    );
  visit.check(focus, "the focus does not go along to another page");
}

export async function finishedIsAnnounced(visit, page, place) {
  await visit.go("/console/library");
  await page.waitForSelector(".wall .thumb");
  await fetch(`${place.base}/artgen/v1/imagine`, {
    method: "POST",
    headers: { "SVC-API-KEY": place.key, "Content-Type": "application/json" },
    body: JSON.stringify({ prompt: "a bell that is heard" }),
  });
  const told = await page
    .waitForFunction(
      () => [...document.querySelectorAll("[aria-live]")].some((one) => /Finished/.test(one.textContent)),
      null,
      { timeout: 20_000 },
    )
    .then(
      () => true,
      () => false,
    );
  visit.check(told, "a finished job is not announced");
}

export async function unknownPages(visit, page) {
  await visit.go("/console/no-such-page");
  const said = await page
    .getByText("There is no such page")
    .waitFor({ timeout: 3000 })
    .then(
      () => true,
      () => false,
    );
  visit.check(said, "an unknown page shows another one");
  await visit.barriers("an unknown page");
  await page.keyboard.press("?");
  await page.waitForSelector("dialog .keys");
  visit.check(
    !/back ends|overview/.test(await page.locator("dialog .keys").textContent()),
    "a caller is told an operator's keys",
  );
  await page.keyboard.press("Escape");
}

/** In another language nothing of the form is English: kinds, ways, hints, choices; nor is what a failure says. */
export async function othersLanguages(visit, page) {
  const texts = {
    de: ["Kunstbilder", "Macht aus einem Prompt ein Raster mit vier Bildern", "schnell"],
    zh: ["艺术图片", "由文字生成一张四格图", "快速"],
  };
  for (const [language, wanted] of Object.entries(texts)) {
    await page.evaluate((name) => localStorage.setItem("atelier.language", name), language);
    await visit.go("/console/create?op=artgen.imagine");
    await page.waitForSelector(".form textarea");
    const shown = await page.locator(".form").innerText();
    for (const text of wanted) visit.check(shown.includes(text), `${language}: “${text}” is not shown`);
    visit.check(!/[\u4e00-\u9fff]\./.test(shown), `${language}: a sentence ends with a stop of other letters`);
    await page.locator("button.more").click();
    const opened = await page.locator(".form").innerText();
    visit.check(!/Whether|Address|Seconds until/.test(opened), `${language}: a hint is English`);
    visit.check(
      await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1),
      `${language}: wider than the window`,
    );
    await page.screenshot({ path: `${visit.folder}/create-${language}.png` });
  }
  await page.evaluate(() => localStorage.setItem("atelier.language", "en"));
}

/** What is only there in English says so where it is opened, to those who read another language. */
export async function saidToBeEnglish(visit, page) {
  const texts = { en: "", de: "nur auf Englisch", zh: "只有英文版" };
  for (const [language, wanted] of Object.entries(texts)) {
    await page.evaluate((name) => localStorage.setItem("atelier.language", name), language);
    for (const path of ["/docs", "/docs/art-images", "/docs/guide/callbacks"]) {
      await visit.go(path);
      await page.locator(".docs-page").waitFor();
      const said = await page.locator("[role=note]").allTextContents();
      visit.check(
        wanted ? said.length === 1 && said[0].includes(wanted) : !said.length,
        `${path} in ${language} says of its language: ${said.join(" | ") || "nothing"}`,
      );
    }
  }
  await page.evaluate(() => localStorage.setItem("atelier.language", "en"));
}

/** Whether this machine has the letters of a word: without them, all look alike. */
export function drawn(word) {
  const pictures = [...new Set(word)].map((letter) => {
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d");
    context.font = getComputedStyle(document.body).font;
    context.fillText(letter, 20, 50);
    return canvas.toDataURL();
  });
  return new Set(pictures).size === pictures.length;
}

const CALLERS = [
  "create?op=artgen.imagine",
  "library",
  ...["", "ledger", "keys", "callbacks", "links", "custody"].map(part),
];
const OPERATORS = (
  "overview jobs accounts backends models groups plans products payments vouchers prices words callbacks " +
  "operators audit"
).split(" ");

function part(name) {
  return `account${name && `?part=${name}`}`;
}

/** The same pages with other letters, light and dark: nothing is wider than the window, nothing bars anybody. */
async function inChinese(visit, page, paths) {
  await page.evaluate(() => localStorage.setItem("atelier.language", "zh"));
  for (const path of paths) {
    await visit.go(path);
    await page.waitForSelector(".rooms");
    for (const colour of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: colour });
      await page.waitForTimeout(250);
      await visit.barriers(`${path} in Chinese, ${colour}`);
    }
    await page.emulateMedia({ colorScheme: "light" });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1);
    visit.check(!wide, `${path} in Chinese: wider than the window`);
  }
  const seen = await page.evaluate(drawn, "作品库");
  visit.check(seen, "there are no Chinese letters on this machine: scripts/tools chinese");
  await page.evaluate(() => localStorage.setItem("atelier.language", "en"));
}

export const callersInChinese = (visit, page) =>
  inChinese(visit, page, [...CALLERS.map((path) => `/console/${path}`), "/docs", "/docs/art-images", "/docs/errors"]);
export const operatorsInChinese = (visit, page) =>
  inChinese(
    visit,
    page,
    OPERATORS.map((room) => `/console/operator/${room}`),
  );
