// The client that openapi-generator's typescript-fetch makes of the OpenAPI document does one whole job.
import { ArtImagesApi, Configuration, ResponseError } from "./generated/index.js";

const [base, key] = process.argv.slice(2) as [string, string];
const api = new ArtImagesApi(new Configuration({ basePath: base, apiKey: key }));

const accepted = await api.artgenImagine({ imagine: { prompt: "a sailing boat --ar 1:1", getUImages: true } });
const jobId = accepted.data.jobId;

const deadline = Date.now() + 120_000;
for (;;) {
  const job = await api.artgenFetch({ jobId });
  if (job.status === "SUCCESS") {
    if (job.images?.length !== 4) throw new Error(`images: ${JSON.stringify(job.images)}`);
    break;
  }
  if (job.status === "FAILED" || Date.now() > deadline) throw new Error(JSON.stringify(job));
  await new Promise((resolve) => setTimeout(resolve, 300));
}

try {
  await api.artgenFetch({ jobId: "none" });
  throw new Error("a job that nobody has was found");
} catch (error) {
  if (!(error instanceof ResponseError) || error.response.status !== 400) throw error;
}
console.log("client of openapi-generator's typescript-fetch: 1 passed, 0 failed");
