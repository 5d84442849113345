// What is for sale is bought at a local Stripe and by bank transfer, given back, topped up and receipted; operators see
// all of it.
import { readFileSync } from "node:fs";

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

/** Whoever pays comes back to the console; the quota is there a moment later, and the page is looked at until it is. */
async function paidAt(visit, page, row) {
  await page.getByRole("button", { name: "Pay" }).click();
  await page.waitForURL(/console\/account/);
  for (let times = 0; times < 40 && !(await row.getByText("paid", { exact: true }).count()); times += 1) {
    await page.waitForTimeout(250);
    await visit.go("/console/account?part=buy");
    await row.first().waitFor();
  }
  await row.getByText("paid", { exact: true }).waitFor();
}

/** A product made by its form is a card for its buyers; it is paid at Stripe or by hand, refunded, and topped up. */
export async function quotaSold(visit, page, place) {
  const { data: account } = await admin(place)("accounts", { email: "buyer@example.com", balance: 5 });
  await visit.go("/console/operator/products");
  await page.getByRole("button", { name: "New product" }).click();
  for (const [field, value] of Object.entries({ name: "hundred", money: "990", currency: "EUR", quota: "100" }))
    await page.fill(`#ask-${field}`, value);
  await visit.barriers("the form of a product");
  await page.locator("dialog .button", { hasText: "New product" }).click();
  await page.locator("tr", { hasText: "hundred" }).getByText("€9.90").waitFor();
  await visit.look("operator-products");

  await visit.signIn(account.api_key);
  await visit.go("/console/account?part=buy");
  const card = page.locator(".offer", { hasText: "hundred" });
  await card.getByText("€9.90").waitFor();
  await visit.look("account-buy");
  await card.getByRole("button", { name: "Buy" }).click();
  await page.selectOption("#ask-provider", "stripe");
  await page.locator("dialog .button", { hasText: "Buy" }).click();
  await page.waitForURL(/\/pay\/cs_test/);
  const rows = page.locator("tr", { hasText: "hundred" });
  await paidAt(visit, page, rows.first());
  await page.locator("h1", { hasText: "105 quota free" }).waitFor();
  // By hand: what is to be transferred, and for what.
  await card.getByRole("button", { name: "Buy" }).click();
  await page.selectOption("#ask-provider", "manual");
  await page.locator("dialog .button", { hasText: "Buy" }).click();
  await page.locator(".told", { hasText: "with the reference" }).waitFor();
  await rows.first().getByText("pending").waitFor();
  // The way to pay is saved with a purchase; then the balance is topped up by itself.
  await page.getByRole("button", { name: "save the way to pay" }).click();
  await page.waitForURL(/\/pay\/cs_test/);
  await paidAt(visit, page, rows.first());
  await page.getByRole("button", { name: "Switch on" }).click();
  await page.fill("#ask-threshold", "1");
  await page.fill("#ask-monthlyCap", "50");
  await visit.barriers("the form of a top-up");
  await page.locator("dialog .button", { hasText: "Save" }).click();
  await page.getByText("hundred is bought below 1 quota, for at most €50.00 a month").waitFor();
  await visit.look("account-bought");

  await visit.signIn(place.token);
  await visit.go("/console/operator/payments");
  const waiting = page.locator("tr", { hasText: "bank transfer" }).first();
  await waiting.getByRole("button", { name: "More" }).click();
  await page.locator(".row-menu button", { hasText: "Confirm" }).first().click();
  await page.locator("dialog .button", { hasText: "Confirm" }).click();
  await waiting.getByText("paid", { exact: true }).waitFor();
  const stripe = page.locator("tr", { hasText: "Stripe" }).first();
  await stripe.getByRole("button", { name: "More" }).click();
  await page.locator(".row-menu:popover-open button", { hasText: "Refund" }).click();
  visit.check((await page.inputValue("#ask-money")) === "9.90", "all of it is offered");
  await page.locator("dialog .button", { hasText: "Refund" }).click();
  await stripe.getByText("refunded").waitFor();
  await stripe.getByRole("button", { name: "Details" }).click();
  await page.locator("dialog", { hasText: "pi_" }).getByText("refunded").first().waitFor();
  await visit.barriers("the details of a payment");
  await page.locator("dialog").getByRole("button", { name: "Close" }).click();
  // A refund of something that no one here has sold does not fit.
  await page.getByText("Everything fits.").waitFor();
  await visit.look("operator-payments");
}

/** A plan that is bought is ended by its buyer; what is paid for stays. */
export async function planSold(visit, page, place) {
  const ask = admin(place);
  const { data: account } = await ask("accounts", { email: "subscriber@example.com", balance: 5 });
  await ask("plans", { name: "monthly", every: "month", quota: 500 });
  await ask("products", { name: "by-the-month", money: 2900, currency: "EUR", plan: "monthly" });
  await visit.signIn(account.api_key);
  await visit.go("/console/account?part=buy");
  const card = page.locator(".offer", { hasText: "by-the-month" });
  await card.getByText("one period of the plan monthly").waitFor();
  await card.getByRole("button", { name: "Buy" }).click();
  await page.selectOption("#ask-provider", "stripe");
  await page.locator("dialog .button", { hasText: "Buy" }).click();
  await page.waitForURL(/\/pay\/cs_test/);
  await paidAt(visit, page, page.locator("tr", { hasText: "by-the-month" }).first());
  await visit.go("/console/account");
  await page.locator(".plan").getByText("monthly").first().waitFor();
  await page.getByRole("button", { name: "End the plan" }).click();
  await page.locator("dialog .button", { hasText: "End the plan" }).click();
  await page.locator(".plan .told", { hasText: "is not renewed" }).waitFor();
  await visit.look("account-plan-ended");
  await visit.signIn(place.token);
  await ask("products/by-the-month", undefined, "DELETE");
}

/** A receipt is a file that says what a job cost. */
export async function receiptsSaved(visit, page, place) {
  const { data: account } = await admin(place)("accounts", { email: "receipts@example.com", balance: 50 });
  await fetch(`${place.base}/v1/images/generations`, {
    method: "POST",
    headers: { Authorization: `Bearer ${account.api_key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ model: "image-1", quality: "low", prompt: "a lighthouse" }),
  });
  await visit.signIn(account.api_key);
  await visit.go("/console/account?part=receipts");
  const [kept] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("table").getByRole("button", { name: "Save" }).first().click(),
  ]);
  const [, payload] = readFileSync(await kept.path(), "utf8").split(".");
  const said = JSON.parse(Buffer.from(payload, "base64url").toString());
  visit.check(said.account === account.id && said.files.length > 0, `the receipt says ${JSON.stringify(said)}`);
  await visit.look("account-receipts");
  await visit.signIn(place.token);
}
