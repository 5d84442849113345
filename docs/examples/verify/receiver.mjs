// A callback receiver that checks every signature. Needs: npm install standardwebhooks
//
// Run: CALLBACK_SECRET=whsec_... node receiver.mjs 9000

import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.CALLBACK_SECRET);
const seen = new Set(); // Use a table with a unique key in a real service.

createServer(async (request, response) => {
  // The signature covers the bytes as they came: check first, parse afterwards.
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const body = Buffer.concat(pieces).toString("utf8");
  try {
    webhook.verify(body, request.headers);
  } catch {
    response.writeHead(401).end();
    return;
  }
  const id = request.headers["webhook-id"];
  if (!seen.has(id)) {
    seen.add(id);
    console.log(JSON.parse(body).status);
  }
  response.writeHead(204).end();
}).listen(Number(process.argv[2]), "127.0.0.1");
