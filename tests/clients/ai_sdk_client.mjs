// The AI SDK of Vercel, unchanged: only the base address and the key are set.
import assert from "node:assert/strict";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import * as ai from "ai";

const [base, apiKey] = process.argv.slice(2);
const generateImage = ai.generateImage ?? ai.experimental_generateImage;
let passed = 0;
const check = (name, truth) => { assert.ok(truth, name); passed += 1; };
const size = (png) => { const view = Buffer.from(png); return [view.readUInt32BE(16), view.readUInt32BE(20)].join("x"); };

const openai = createOpenAI({ baseURL: `${base}/v1`, apiKey });
const one = await generateImage({ model: openai.image("image-1"), prompt: "a lighthouse", size: "1024x1024" });
check("a picture through createOpenAI", size(one.image.uint8Array) === "1024x1024");

const compatible = createOpenAICompatible({ name: "atelier", baseURL: `${base}/v1`, apiKey });
const two = await generateImage({ model: compatible.imageModel("art-2"), prompt: "a boat", size: "512x512" });
check("a picture through createOpenAICompatible", size(two.image.uint8Array) === "512x512");
const three = await generateImage({ model: compatible.imageModel("image-1"), prompt: "a fox", size: "1024x1024" });
check("image-1 with a response_format it does not need", size(three.image.uint8Array) === "1024x1024");

const edited = await generateImage({ model: openai.image("image-1"), prompt: { images: [two.image.uint8Array], text: "make it night" } });
check("an edited picture", edited.image.uint8Array.length > 1000);
console.log(`AI SDK: ${passed} passed, 0 failed`);
