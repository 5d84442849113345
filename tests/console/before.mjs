// What happened in a month that is over: an account with credits, keys and jobs, made while the service's clock was put
// back. Prints the key.
//
//   node before.mjs BASE_URL TOKEN
import { made } from "./results.mjs";

const [base, token] = process.argv.slice(2);
const call = async (path, body, headers, method = "POST") => {
  const answer = await fetch(`${base}${path}`, {
    method,
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const json = await answer.json();
  if (!answer.ok) throw new Error(`${path}: ${JSON.stringify(json)}`);
  return json.data;
};
const admin = (path, body, method) => call(`/admin/v1/${path}`, body, { Authorization: `Bearer ${token}` }, method);

const account = await admin("accounts", { email: "harbour@example.com", balance: 200 });
const own = (path, body) => call(path, body, { "SVC-API-KEY": account.api_key });
await admin(`accounts/${account.id}/credit`, { amount: 300, reason: "invoice 2026-201" });
await admin(`accounts/${account.id}/credit`, { amount: -25, reason: "refund of a duplicate order" });
const voucher = await admin("vouchers", { count: 1, amount: 50, note: "trade fair" });
await own("/account/v1/vouchers", { code: voucher.csv.trim().split(/\s+/).at(-1) });
await admin("plans", { name: "atelier", every: "month", quota: 400, rollover_cap: 0 });
await admin(`accounts/${account.id}/plan`, { plan: "atelier" }, "PUT");
const keys = [account.api_key];
for (const name of ["website", "mobile app", "nightly posters"])
  keys.push((await own("/account/v1/keys", { name })).api_key);
const prompts = ["a red kite over hills", "a lighthouse at dawn", "three balloons", "a fox in snow", "a quiet harbour"];
for (const [at, prompt] of prompts.entries()) await made({ base, key: keys[at % keys.length] }, prompt);
for (const [at, quality] of ["low", "medium", "high"].entries())
  await call(
    "/v1/images/generations",
    { prompt: "a poster of a lighthouse", model: "image-1", quality },
    { "SVC-API-KEY": keys[1 + at] },
  );
await call("/vidgen/v1/generations", { model: "video-2", prompt: "waves at night" }, { "SVC-API-KEY": keys[1] });
for (;;) {
  const jobs = await (await fetch(`${base}/jobs/v1?limit=100`, { headers: { "SVC-API-KEY": account.api_key } })).json();
  if (jobs.data.every((job) => ["SUCCESS", "FAILED"].includes(job.status))) break;
  await new Promise((wake) => {
    setTimeout(wake, 200);
  });
}
console.log(account.api_key);
