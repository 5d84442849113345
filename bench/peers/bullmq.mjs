// BullMQ as its documents say: `bullmq.mjs work PORT` is a worker with 64 jobs at once, `bullmq.mjs submit PORT SECONDS` has
// 64 submitters add jobs for some seconds, waits until all are done and prints how many there were and how long it took.
import { createRequire } from "node:module";
const { Queue, Worker } = createRequire(`${process.env.PEERS_NODE}/`)("bullmq");

const [act, port, seconds] = process.argv.slice(2);
const connection = { host: "127.0.0.1", port: Number(port), maxRetriesPerRequest: null };
const AT_ONCE = 64;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

if (act === "work") {
  // The work itself costs nothing, as artgen.seed does.
  new Worker("jobs", async () => ({ seed: 1 }), { connection, concurrency: AT_ONCE });
} else {
  const queue = new Queue("jobs", { connection });
  const done = async () => Object.values(await queue.getJobCounts("completed", "failed")).reduce((a, b) => a + b, 0);
  const before = await done();
  let added = 0;
  const began = performance.now();
  const end = began + seconds * 1000;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (performance.now() < end) {
        await queue.add("seed", { jobId: "0198a7de-5a7c-7cc3-a5a1-2f3a4b5c6d7e" });
        added += 1;
      }
    }),
  );
  while ((await done()) < before + added) await pause(10);
  console.log(JSON.stringify({ jobs: added, seconds: (performance.now() - began) / 1000 }));
  await queue.close();
}
