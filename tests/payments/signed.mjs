// Prints what Stripe's own JavaScript library signs a body with, and whether it believes a header of ours.
//   signed.mjs SECRET HEADER < BODY
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const load = createRequire(`${process.env.NODE_TOOLS}/`);
const loaded = load("stripe");
const Stripe = loaded.default ?? loaded;
const [secret, header] = process.argv.slice(2);
const payload = readFileSync(0, "utf8");
const stripe = new Stripe("sk_test_nothing");
const event = stripe.webhooks.constructEvent(payload, header, secret);
if (event.object !== "event") throw new Error("no event");
console.log(stripe.webhooks.generateTestHeaderString({ payload, secret }));
