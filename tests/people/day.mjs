// A company's first day in a real browser: an operator invites an owner, the owner invites a member and limits them, the member makes a
// key and a picture, and colleagues sign in with the company's own accounts. Pictures of every page are kept.
//
//   node day.mjs BASE_URL TOKEN LOG FOLDER
import { mkdirSync, readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const [base, token, log, folder] = process.argv.slice(2);
const DRESSES = [
  ["light", "light", 1360, 860],
  ["dark", "dark", 1360, 860],
  ["phone", "light", 360, 760],
];
const problems = [];
mkdirSync(folder, { recursive: true });
const chrome = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});

/** A person with a browser of their own. */
async function person(name) {
  const context = await chrome.newContext({ viewport: { width: 1360, height: 860 }, locale: "en" });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.on("pageerror", (error) => problems.push(`${name}: ${error.stack || error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !/40[0-9]/.test(message.text())) problems.push(`${name}: ${message.text()}`);
  });
  return page;
}

async function look(page, name) {
  for (const [dress, colorScheme, width, height] of DRESSES) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(300);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 1) problems.push(`${name}: ${wide} pixels too wide in ${dress}`);
    await page.screenshot({ path: `${folder}/${name}-${dress}.png`, fullPage: true });
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1360, height: 860 });
}

/** The word of the latest link to an address, out of the log: there is no mail server. */
async function link(email, before = "") {
  for (let tries = 0; tries < 300; tries += 1) {
    const lines = readFileSync(log, "utf8").split("\n");
    const found = lines.filter((line) => line.includes(email)).flatMap((line) => line.match(/\/auth\/v1\/link\/\w+/) || []);
    const last = found.at(-1);
    if (last && last !== before) return last;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no letter to ${email}`);
}

const step = (text) => console.log(`  ${text}`);
const check = (good, what) => good || problems.push(what);
const at = (page, path) => page.goto(`${base}${path}`);

async function operate(method, path, body) {
  const answer = await fetch(`${base}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  const said = await answer.json();
  if (!answer.ok) throw new Error(JSON.stringify(said));
  return said.data;
}

try {
  const found = await operate("GET", "/admin/v1/accounts?q=studio@example.com");
  const account = found[0].id;
  await operate("POST", `/admin/v1/accounts/${account}/invitations`, { email: "boss@example.com", role: "owner" });

  const boss = await person("boss");
  await boss.goto(`${base}${await link("boss@example.com")}`);
  await look(boss, "1-invitation");
  await boss.getByRole("button", { name: "Accept" }).click();
  await boss.waitForURL("**/console/**");
  await at(boss, "/console/account?part=people");
  await boss.getByRole("button", { name: "Invite" }).first().click();
  await boss.fill("#ask-email", "ada@example.com");
  await boss.selectOption("#ask-role", "member");
  await look(boss, "2-invite");
  await boss.locator("dialog").getByRole("button", { name: "Invite" }).click();
  await boss.getByText("ada@example.com").first().waitFor();
  step("an owner came by an invitation and invited a member");

  const ada = await person("ada");
  const invitation = await link("ada@example.com");
  await ada.goto(`${base}${invitation}`);
  await ada.getByRole("button", { name: "Accept" }).click();
  await ada.waitForURL("**/console/**");
  await at(boss, "/console/account?part=people");
  const row = boss.locator("tr", { hasText: "ada@example.com" });
  await row.getByRole("button", { name: "Change" }).click();
  await boss.fill("#ask-month", "5");
  await boss.locator("dialog").getByRole("button", { name: "Save" }).click();
  await boss.getByText(/0 of 5|5/).first().waitFor();
  await look(boss, "3-members");
  step("the owner limited the member");

  await at(ada, "/console/account?part=keys");
  await ada.getByRole("button", { name: "New key" }).first().click();
  await ada.fill("#ask-name", "laptop");
  await ada.locator("dialog").getByRole("button", { name: "New key" }).click();
  const key = (await ada.locator("text=/at_[A-Za-z0-9]{20,}/").first().textContent()).match(/at_\w+/)[0];
  await look(ada, "4-key");
  const submit = async () =>
    (
      await fetch(`${base}/artgen/v1/imagine`, {
        method: "POST",
        headers: { "svc-api-key": key, "content-type": "application/json" },
        body: '{"prompt":"a lighthouse at dawn"}',
      })
    ).json();
  const first = await submit();
  check(first.status === "SUCCESS" || first.data?.jobId, `the first job: ${JSON.stringify(first)}`);
  const second = await submit();
  check(second.code === "key_limit", `the limit of the member: ${JSON.stringify(second)}`);
  await at(boss, "/console/account?part=usage&by=member");
  await boss.waitForTimeout(1500);
  await look(boss, "5-usage");
  step("the member made a key and a picture, and the limit held");

  const refused = await ada.request.get(`${base}/account/v1/members`);
  check(refused.status() === 403, `a member reads members: ${refused.status()}`);
  await at(ada, "/console/account?part=you");
  await ada.getByText("Sessions").first().waitFor();
  await look(ada, "6-you");

  const again = await person("ada again");
  await at(again, "/console/");
  await again.locator("#email, summary").first().waitFor();
  await look(again, "7-sign-in");
  if (!(await again.locator("#email").isVisible())) await again.locator("summary").click();
  await again.fill("#email", "ada@example.com");
  await again.getByRole("button", { name: "Send me a link" }).click();
  await again.locator("#code").waitFor();
  const phone = await person("ada's phone");
  await phone.goto(`${base}${await link("ada@example.com", invitation)}`);
  await look(phone, "8-code");
  const code = (await phone.locator(".code").first().textContent()).replace(/\s/g, "");
  await again.fill("#code", code);
  await look(again, "9-type-code");
  await again.getByRole("button", { name: "Sign in" }).click();
  await again.locator("#code").waitFor({ state: "detached" });
  check((await again.request.get(`${base}/auth/v1/me`)).status() === 200, "the code signs in");
  step("a link that was opened on a phone signed in at the desk, by its code");

  const company = async (name) => {
    const page = await person(name);
    await at(page, "/console/");
    await page.getByRole("link", { name: "Continue with Company" }).click();
    await page.fill("input[name=login]", name);
    await page.fill("input[name=password]", "any");
    if (name === "zoe") await page.screenshot({ path: `${folder}/10-provider.png` });
    await page.getByRole("button", { name: /sign-in/i }).click();
    await page.getByRole("button", { name: /continue/i }).click();
    await page.waitForURL(`${base}/**`);
    return page;
  };
  const zoe = await company("zoe");
  const me = await (await zoe.request.get(`${base}/auth/v1/me`)).json();
  check(me.data?.accounts?.[0]?.role === "member", `zoe is a member: ${JSON.stringify(me)}`);
  check(me.data?.person?.name === "zoe", "her name is known");
  await zoe.waitForURL("**/console/**");
  await zoe.locator(".form textarea").waitFor();
  const guest = await company("guest");
  check((await guest.request.get(`${base}/auth/v1/me`)).status() === 401, "a guest is out");
  await look(guest, "11-no-group");
  await at(boss, "/console/account?part=people");
  await boss.getByText("zoe@example.com").first().waitFor();
  await look(boss, "12-members");
  step("a colleague signed in with the company's account; a guest did not");
} catch (error) {
  problems.push(error.stack);
}
await chrome.close();
for (const problem of problems) console.error(`PROBLEM: ${problem}`);
console.log(`pictures: ${folder}`);
process.exit(problems.length ? 1 : 0);
