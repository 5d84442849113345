// The AI SDK of Vercel, unchanged: only the base address and the key are set.
import assert from "node:assert/strict";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
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
const said = await ai.generateText({ model: compatible.chatModel("chat-image"), prompt: "a lighthouse" });
check("a conversation is answered with a picture", said.text.startsWith("![image](http"));
const stream = ai.streamText({ model: compatible.chatModel("chat-image"), prompt: "a fox" });
let text = "";
for await (const piece of stream.textStream) text += piece;
check("a stream of it has one picture", text.split("![image](").length === 2);
const google = createGoogleGenerativeAI({ baseURL: `${base}/v1beta`, apiKey });
const drawn = await ai.generateText({ model: google("gemini-2.5-flash-image"), prompt: "a boat", providerOptions: { google: { responseModalities: ["IMAGE"] } } });
check("a picture in Gemini's form", drawn.files[0].mediaType === "image/png" && size(drawn.files[0].uint8Array) === "1024x1024");
const older = await generateImage({ model: google.image("imagen-4.0-generate-001"), prompt: "a boat" }).catch((error) => error);
check("a model that is not here is refused with what there is", String(older.message ?? older).includes("chat-image"));
console.log(`AI SDK: ${passed} passed, 0 failed`);
