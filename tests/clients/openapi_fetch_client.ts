// The types that openapi-typescript makes of the OpenAPI document, and openapi-fetch over them, do one whole job.
import createClient from "openapi-fetch";
import type { paths } from "./schema";

const [base, key] = process.argv.slice(2) as [string, string];
const client = createClient<paths>({ baseUrl: base, headers: { "SVC-API-KEY": key } });

const submitted = await client.POST("/artgen/v1/imagine", {
  body: { prompt: "a sailing boat --ar 1:1", getUImages: true },
});
if (submitted.error) throw new Error(`${submitted.error.code}: ${submitted.error.message}`);
const { jobId } = submitted.data.data;

const deadline = Date.now() + 120_000;
for (;;) {
  const fetched = await client.GET("/artgen/v1/fetch", { params: { query: { jobId } } });
  if (fetched.error) throw new Error(fetched.error.message);
  const job = fetched.data;
  if (job.status === "SUCCESS") {
    if (job.images?.length !== 4) throw new Error(`images: ${JSON.stringify(job.images)}`);
    break;
  }
  if (job.status === "FAILED" || Date.now() > deadline) throw new Error(JSON.stringify(job));
  await new Promise((resolve) => setTimeout(resolve, 300));
}

// @ts-expect-error A mode that the document does not list is no request.
const wrong = await client.POST("/artgen/v1/imagine", { body: { prompt: "a boat", mode: "warp" } });
if (wrong.error?.code !== "invalid_parameter") throw new Error(JSON.stringify(wrong));
console.log("client of openapi-typescript: 1 passed, 0 failed");
