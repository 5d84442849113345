// What Stripe's own JavaScript library says of webhooks: reads lines of JSON {payload, secret, header}, and prints one for each: {header} that
// it signs the payload with, and {known}, whether it believes the header that was given.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const load = createRequire(`${process.env.NODE_TOOLS}/`);
const loaded = load("stripe");
const Stripe = loaded.default ?? loaded;
const stripe = new Stripe("sk_test_nothing");

for await (const line of createInterface({ input: process.stdin })) {
  const { payload, secret, header } = JSON.parse(line);
  let known = false;
  try {
    known = stripe.webhooks.constructEvent(payload, header, secret).object === "event";
  } catch (error) {
    if (error.type !== "StripeSignatureVerificationError") throw error;
  }
  console.log(JSON.stringify({ known, header: stripe.webhooks.generateTestHeaderString({ payload, secret }) }));
}
