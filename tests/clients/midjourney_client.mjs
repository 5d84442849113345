// Drives the midjourney-proxy door with uniai, a library from npm that speaks that program's first dialect: imagine, follow,
// an upscale and a variation by their numbers, the list, and a refusal.
import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import uniai from "uniai";

const [base, key, poor] = process.argv.slice(2);
const UniAI = uniai.default ?? uniai;
const at = (token) => new UniAI({ MidJourney: { proxy: base, token } });
const provider = "midjourney";

async function until(client, id) {
  for (let tries = 0; tries < 300; tries++) {
    const [task] = await client.task(provider, id);
    assert.equal(task.id, id);
    assert.equal(task.fail ?? "", "", `${id}: ${task.fail}`);
    if (task.progress === 100 && task.imgs.length > 0) return task;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`${id} has not finished`);
}

// The library saves pictures itself and answers with the names of the files.
const sizes = (task) => Promise.all(task.imgs.map(async (file) => (await stat(file)).size));
const check = async (task, type) => {
  assert.equal(task.type, type);
  assert.ok((await sizes(task)).every((size) => size > 10_000));
};

const client = at(key);
const { taskId } = await client.imagine("a lighthouse at dawn", { provider, width: 1024, height: 768 });
const made = await until(client, taskId);
await check(made, "IMAGINE");
for (const action of ["UPSCALE", "VARIATION"]) {
  const next = await client.change(provider, taskId, action, 2);
  await check(await until(client, next.taskId), action);
}
const listed = await client.task(provider);
assert.ok(listed.some((task) => task.id === taskId), "it is in the list");
await assert.rejects(at(poor).imagine("a lighthouse", { provider }), /quota/i);
console.log("uniai: imagine, upscale, variation and list through the midjourney-proxy door");
