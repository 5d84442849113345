// The official MCP client for TypeScript: makes a picture over HTTP and over standard input and output, and reads it.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [base, key, binary] = process.argv.slice(2);

async function story(transport, where) {
  const client = new Client({ name: "atelier-proof", version: "1.0.0" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const names = new Set(tools.map((tool) => tool.name));
  for (const name of ["artgen_imagine", "facegen_swap", "quota", "wait_for_job"]) assert(names.has(name), name);
  let heard = 0;
  const made = await client.callTool(
    { name: "artgen_imagine", arguments: { prompt: "a lighthouse at dawn [[delay 400ms]]" } },
    undefined,
    { onprogress: () => { heard += 1; }, resetTimeoutOnProgress: true },
  );
  assert(!made.isError, JSON.stringify(made));
  const picture = made.content.find((part) => part.type === "image");
  assert(picture && heard > 0, `${heard}`);
  const link = made.content.find((part) => part.type === "resource_link");
  const whole = await client.readResource({ uri: link.uri });
  const bytes = Buffer.from(whole.contents[0].blob, "base64");
  assert.equal(bytes.subarray(1, 4).toString(), "PNG");

  // A call that is no longer wanted ends its job and gives its quota back.
  const before = (await client.callTool({ name: "quota", arguments: {} })).structuredContent;
  const stop = new AbortController();
  const unwanted = client.callTool(
    { name: "artgen_imagine", arguments: { prompt: "x [[delay 60s]]" } }, undefined, { signal: stop.signal },
  );
  setTimeout(() => stop.abort("changed my mind"), 500);
  await assert.rejects(unwanted);
  let after;
  for (let tries = 0; tries < 50; tries += 1) {
    await new Promise((done) => setTimeout(done, 100));
    after = (await client.callTool({ name: "quota", arguments: {} })).structuredContent;
    if (after.held === 0) break;
  }
  assert.deepEqual(after, before);
  console.log(`mcp javascript ${where}: ${tools.length} tools, whole picture ${bytes.length} bytes, ${heard} progress, cancelled`);
  await client.close();
}

const headers = { Authorization: `Bearer ${key}` };
await story(new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers } }), "http");
const env = { ...process.env, ATELIER_CLIENT_URL: base, ATELIER_CLIENT_KEY: key };
await story(new StdioClientTransport({ command: binary, args: ["mcp"], env }), "stdio");
