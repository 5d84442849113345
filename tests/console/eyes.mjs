// Every page of every person in every dress, for eyes to look at: light, dark, on a phone, at 200 %, in every language.
// What needs no eyes is checked on the way: nothing is wider than the window, nothing bars anybody, nothing that is a
// sentence in English is the same sentence in another language.
//
//   node eyes.mjs BASE_URL LINK TOKEN KEY FOLDER [WORD,…]   picks pages with one of the words in their name
import { createServer } from "node:http";
import { Visit } from "./visit.mjs";
import { made } from "./results.mjs";

const [base, link, token, key, folder, word = ""] = process.argv.slice(2);
/** Name, colours, language, width, height: 200 % of a window is half of it. */
const DRESSES = [
  ["light", "light", "en", 1360, 860],
  ["dark", "dark", "en", 1360, 860],
  ["phone", "light", "en", 390, 844],
  ["zoom", "light", "en", 680, 430],
  ["de", "light", "de", 1360, 860],
  ["de-phone", "light", "de", 390, 844],
  ["zh", "light", "zh", 1360, 860],
];
const CALLER = {
  create: "create?op=artgen.imagine",
  "create-edit": "create?op=artgen.blend",
  "create-video": "create?op=vidgen.generations",
  "create-models": "create?op=imgmodel.generations",
  library: "library",
  "library-empty": "library?q=nothing+like+it",
  usage: "account",
  buy: "account?part=buy",
  ledger: "account?part=ledger",
  receipts: "account?part=receipts",
  keys: "account?part=keys",
  callbacks: "account?part=callbacks",
  links: "account?part=links",
  custody: "account?part=custody",
  unknown: "no-such-page",
};
const OPERATOR = {
  overview: "operator/overview",
  jobs: "operator/jobs",
  accounts: "operator/accounts",
  backends: "operator/backends",
  models: "operator/models",
  "model-form": "operator/models?new=model",
  groups: "operator/groups",
  "group-form": "operator/groups?new=group",
  plans: "operator/plans",
  products: "operator/products",
  payments: "operator/payments",
  vouchers: "operator/vouchers",
  rehearsal: "operator/rehearsal",
  prices: "operator/prices",
  words: "operator/words",
  "op-callbacks": "operator/callbacks",
  operators: "operator/operators",
  audit: "operator/audit",
};
const DEVELOPER = {
  docs: "/docs",
  "docs-family": "/docs/art-images",
  "docs-errors": "/docs/errors",
  "docs-guide": "/docs/guide/callbacks",
};

const call = async (path, body, headers, method = body ? "POST" : "GET") =>
  (
    await fetch(`${base}${path}`, {
      method,
      headers: { "Content-Type": "application/json", ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  ).json();
const own = (path, body, method) => call(path, body, { "SVC-API-KEY": key }, method);
const admin = (path, body, method) => call(`/admin/v1/${path}`, body, { Authorization: `Bearer ${token}` }, method);

/** Something of everything that pages tell of. */
async function furnish() {
  const place = { base, key };
  for (const prompt of ["a red kite over green hills", "a fox in snow", "a lighthouse at dawn"])
    await made(place, prompt);
  const grid = await made(place, "three balloons over a green valley, morning haze");
  await own("/artgen/v1/action", { jobId: grid.jobId, action: "upsample2" });
  await own("/artgen/v1/action", { jobId: grid.jobId, action: "variation3" });
  await own(`/jobs/v1/${grid.jobId}/links`, {});
  await own("/artgen/v1/imagine", { prompt: "[[fail: the paint has run out]] a ship that never arrives" });
  await own("/account/v1/keys", {
    name: "website, production",
    limits: [{ window: "day", quota: 50 }],
    operations: ["artgen.*"],
    note: "rotated by Kim every quarter",
  });
  const vendor = createServer((_, response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: "Incorrect API key provided", code: "invalid_api_key" } }));
  });
  await new Promise((done) => {
    vendor.listen(0, "127.0.0.1", () => done(undefined));
  });
  const { port } = /** @type {import("node:net").AddressInfo} */ (vendor.address());
  const { data: sent } = await own("/artgen/v1/imagine", {
    prompt: "a postcard",
    hookUrl: `http://127.0.0.1:${port}/hook`,
  });
  if (!sent) throw new Error("no callback was taken");
  const rows = [];
  for (const [name, rank] of [
    ["painters", 500],
    ["spare", 900],
  ]) {
    const { data } = await admin("backends", {
      vendor: "xai",
      name,
      base_url: `http://127.0.0.1:${port}`,
      rank,
      operations: ["imgmodel"],
      settings: {},
    });
    await admin(`backends/${data.id}/accounts`, { name: "first", credential: "xai-none", per_minute: 7 });
    rows.push(data);
  }
  await admin(`backends/${rows[1].id}`, { shadow: { share: 0.05, cap: 20 } }, "PATCH");
  await admin(`backends/${rows[0].id}/probe`, {});
  await admin("models", {
    name: "seedream-4-5",
    title: "Seedream 4.5",
    like: "imgmodel/image-1",
    price: { unit: "item", amount: 0.04 },
    routes: [{ backend: "painters", model: "seedream" }],
  });
  await admin("groups", { name: "resellers", rules: [{ match: "*", factor: 0.8 }] });
  for (const [name, every, quota, rollover_cap] of [
    ["studio", "month", 1000, 200],
    ["agency", "year", 60_000, 0],
    ["trial", { days: 14 }, 100, 0],
  ])
    await admin("plans", { name, every, quota, rollover_cap });
  for (const [name, money, gives] of [
    ["hundred", 990, { quota: 100 }],
    ["thousand", 7900, { quota: 1000, credit_days: 365 }],
    ["studio", 2900, { plan: "studio" }],
  ])
    await admin("products", { name, money, currency: "EUR", ...gives });
  await admin("vouchers", { count: 100, amount: 50, note: "spring fair", expires: "2030-01-01", credit_days: 90 });
  const { data: voucher } = await admin("vouchers", { count: 5, amount: 10, note: "for the team" });
  await admin(`vouchers/${voucher.id}`, undefined, "DELETE");
  for (let at = 0; at < 6; at += 1) await admin("accounts", { email: `studio-${at}@example.com`, balance: at * 40 });
  const account = (await admin("accounts?q=demo")).data[0];
  await admin(`accounts/${account.id}`, { notes: "Pays by the year.\nAsk for Kim first." }, "PATCH");
  await admin(`accounts/${account.id}/credit`, { amount: 500, reason: "invoice 2026-114" });
  await admin(`accounts/${account.id}/credit`, { amount: 40, reason: "trial", expires: "2030-01-31" });
  await admin(`accounts/${account.id}/plan`, { plan: "studio" }, "PUT");
  await admin(`accounts/${account.id}/plan`, { plan: "trial" }, "PUT");
  const buy = (body) => own("/account/v1/payments", body);
  const { data: bought } = await buy({ product: "hundred", provider: "manual" });
  await admin(`payments/${bought.id}/confirm`, {});
  await admin(`payments/${bought.id}/refund`, { money: 200 });
  await buy({ product: "thousand", provider: "manual" });
  await buy({ product: "thousand", provider: "stripe" });
  return { job: grid.jobId, account: account.id, backend: rows[0].id, close: () => vendor.close() };
}

/**
 * What a page says in sentences; fields, what people or programs wrote themselves and what is said to be English are
 * left out.
 */
const sentences = () => {
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const theirs =
    "code, pre, script, style, .words, .code, [dir=auto], body [lang=en], .noted, option, .markdown, .docs-page";
  while (walker.nextNode()) {
    const { parentElement } = walker.currentNode;
    const text = walker.currentNode.textContent.trim();
    if (!parentElement || parentElement.closest(theirs) || !parentElement.getClientRects().length) continue;
    if (/[A-Za-z]{2,} [A-Za-z]{2,}/.test(text)) found.add(text);
  }
  return [...found];
};

const visit = await Visit.begin(base, folder);
const { page } = visit;
const english = {};

async function look(name, path) {
  if (!word.split(",").some((one) => name.includes(one))) return;
  for (const [dress, colour, language, width, height] of DRESSES) {
    await page.emulateMedia({ colorScheme: colour });
    await page.setViewportSize({ width, height });
    await page.evaluate((one) => localStorage.setItem("atelier.language", one), language);
    await visit.go(path);
    await page.waitForTimeout(250);
    await page.screenshot({ path: `${folder}/${name}.${dress}.png`, fullPage: dress !== "zoom" });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    visit.check(wide <= 1, `${name} ${dress}: ${wide} pixels wider than the window`);
    const said = await page.evaluate(sentences);
    if (language === "en") english[name] = said;
    else {
      const same = said.filter((text) => english[name].includes(text));
      visit.check(!same.length, `${name} ${dress}: still in English: ${same.join(" | ")}`);
    }
    await visit.barriers(`${name} ${dress}`);
  }
  await page.evaluate(() => localStorage.setItem("atelier.language", "en"));
  visit.step(`seen ${name}`);
}

visit.expected = /40[0-9]|50[0-9]/;
await visit.visitPage(`${base}/console/`);
await look("sign-in", "/console/");
await visit.signIn(link);
const there = await furnish();
for (const [name, path] of Object.entries(CALLER)) await look(name, `/console/${path}`);
await look("job", `/console/job/${there.job}`);
for (const [name, path] of Object.entries(DEVELOPER)) await look(name, path);
await visit.signIn(token);
for (const [name, path] of Object.entries(OPERATOR)) await look(name, `/console/${path}`);
for (const part of ["", "ledger", "jobs", "keys", "limits"])
  await look(`account-${part || "usage"}`, `/console/operator/accounts/${there.account}${part ? `?part=${part}` : ""}`);
await look("backend", `/console/operator/backends/${there.backend}`);
await look("op-job", `/console/job/${there.job}`);
there.close();
process.exit((await visit.end()).length ? 1 : 0);
