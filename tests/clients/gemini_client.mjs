// Google's own library, unchanged: only the base address and the key are set.
import assert from "node:assert/strict";
import { ApiError, GoogleGenAI } from "@google/genai";

const [base, apiKey] = process.argv.slice(2);
let passed = 0;
const check = (name, truth) => { assert.ok(truth, name); passed += 1; };
const at = (key) => new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: base } });
const pictures = (answer) =>
  (answer.candidates ?? []).flatMap((one) => one.content?.parts ?? []).filter((part) => part.inlineData?.data).map((part) => Buffer.from(part.inlineData.data, "base64"));
const isPng = (bytes) => bytes.subarray(1, 4).toString() === "PNG";

const client = at(apiKey);
const answer = await client.models.generateContent({ model: "chat-image", contents: "a lighthouse at dawn" });
check("a picture of words", isPng(pictures(answer)[0]));
const inlineData = { mimeType: "image/png", data: pictures(answer)[0].toString("base64") };
const edited = await client.models.generateContent({
  model: "image-1",
  contents: [{ role: "user", parts: [{ text: "make it night" }, { inlineData }] }],
  config: { responseModalities: ["IMAGE"], imageConfig: { aspectRatio: "1:1" } },
});
check("an edited picture", isPng(pictures(edited)[0]));
const events = [];
for await (const event of await client.models.generateContentStream({ model: "chat-image", contents: "a fox" })) events.push(event);
check("a stream ends with its picture", events.flatMap(pictures).length === 1);
await assert.rejects(client.models.generateContent({ model: "gemini-3-pro", contents: "x" }), (error) => {
  check("a text model is an ApiError", error instanceof ApiError && error.status === 400 && error.message.includes("chat-image"));
  return true;
});
await assert.rejects(at("wrong").models.generateContent({ model: "chat-image", contents: "x" }), (error) => {
  check("a bad key says so", error.status === 401);
  return true;
});
console.log(`google-genai (JavaScript): ${passed} passed, 0 failed`);
