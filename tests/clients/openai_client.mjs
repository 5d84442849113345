// The vendor's own JavaScript library, unchanged: only the base address and the key are set.
import assert from "node:assert/strict";
import OpenAI, { toFile } from "openai";

const [base, key, poorKey] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: key, maxRetries: 0, timeout: 120_000 });
let passed = 0;
const check = (name, truth) => { assert.ok(truth, name); passed += 1; };
const size = (png) => [png.readUInt32BE(16), png.readUInt32BE(20)].join("x");

const made = await client.images.generate({ model: "art-2", prompt: "a lighthouse", size: "512x512", response_format: "b64_json" });
const png = Buffer.from(made.data[0].b64_json, "base64");
check("a picture of the asked-for size", png.subarray(1, 4).toString() === "PNG" && size(png) === "512x512");

const edited = await client.images.edit({
  model: "image-1", prompt: "make it night", quality: "low", image: await toFile(png, "image.png", { type: "image/png" }),
});
check("an edited picture", Buffer.from(edited.data[0].b64_json, "base64").subarray(1, 4).toString() === "PNG");

const types = async (stream, partial) => {
  const seen = [];
  for await (const event of stream) if (event.type !== partial) seen.push(event);
  return seen;
};
const drawn = await types(await client.images.generate({ model: "image-1", prompt: "a fox", quality: "low", stream: true, partial_images: 1 }), "image_generation.partial_image");
check("a stream brings the picture", drawn.length === 1 && drawn[0].type === "image_generation.completed" && drawn[0].usage.total_tokens > 0);
check("and it is one", size(Buffer.from(drawn[0].b64_json, "base64")) === drawn[0].size);
const redrawn = await types(await client.images.edit({
  model: "image-1", prompt: "make it night", quality: "low", stream: true, image: await toFile(png, "image.png", { type: "image/png" }),
}), "image_edit.partial_image");
check("an edit is streamed from a form", redrawn.length === 1 && redrawn[0].type === "image_edit.completed");
await assert.rejects(async () => types(await client.images.generate({ model: "image-1", prompt: "[[reject]]", quality: "low", stream: true })), (error) => {
  check("a failure in a stream is thrown", error instanceof OpenAI.APIError && error.code === "content_rejected");
  return true;
});

const sold = await client.images.generate({ model: "seedream-4-5", prompt: "a fox", quality: "low" });
check("a model that nobody compiled, in its own size", size(Buffer.from(sold.data[0].b64_json, "base64")) === "640x640" && sold.size === "640x640");
check("it can be retrieved", (await client.models.retrieve("seedream-4-5")).id === "seedream-4-5");
await assert.rejects(client.images.generate({ model: "seedream-4-5", prompt: "x", size: "1536x1024" }), (error) => {
  check("what it does not offer is refused by name", error instanceof OpenAI.BadRequestError && error.param === "size");
  return true;
});

await assert.rejects(client.images.generate({ model: "art-3", prompt: "x", n: 2 }), (error) => {
  check("bad input is a BadRequestError that names the field", error instanceof OpenAI.BadRequestError && error.param === "n");
  return true;
});
await assert.rejects(new OpenAI({ baseURL: `${base}/v1`, apiKey: "wrong", maxRetries: 0 }).images.generate({ prompt: "x" }), (error) => {
  check("a bad key is an AuthenticationError", error instanceof OpenAI.AuthenticationError);
  return true;
});
await assert.rejects(new OpenAI({ baseURL: `${base}/v1`, apiKey: poorKey, maxRetries: 0 }).images.generate({ model: "art-3", prompt: "x" }), (error) => {
  check("no quota says so", error instanceof OpenAI.BadRequestError && error.code === "insufficient_quota");
  return true;
});

const models = [];
for await (const model of client.models.list()) models.push(model.id);
check("models are listed", models.includes("image-1") && models.includes("video-2"));

let video = await client.videos.create({ prompt: "a paper boat on a canal", seconds: "4", size: "1280x720" });
while (["queued", "in_progress"].includes(video.status)) {
  await new Promise((resolve) => setTimeout(resolve, 200));
  video = await client.videos.retrieve(video.id);
}
check("a video is completed", video.status === "completed" && video.progress === 100);
const film = Buffer.from(await (await client.videos.downloadContent(video.id)).arrayBuffer());
check("its file is a video", film.subarray(4, 8).toString() === "ftyp");
const listed = await client.videos.list({ limit: 1 });
check("videos are listed", listed.data[0].id === video.id);
check("a video is deleted", (await client.videos.delete(video.id)).deleted);
const messages = [{ role: "user", content: "a lighthouse" }];
const said = await client.chat.completions.create({ model: "chat-image", messages });
check("a conversation is answered with a picture", said.choices[0].message.content.startsWith("![image](http"));
let text = "";
for await (const chunk of await client.chat.completions.create({ model: "chat-image", messages, stream: true })) text += chunk.choices[0]?.delta?.content ?? "";
check("a stream of it has one picture", text.startsWith("![image](http"));
console.log(`openai (JavaScript): ${passed} passed, 0 failed`);
