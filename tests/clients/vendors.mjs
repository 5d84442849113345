// Sends what an adapter sent, through the vendor's own client for JavaScript: vendors.mjs NAME URL, with the body on standard
// input. Prints one line of what the client understood of the answer. The server compares the two requests.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [name, url] = process.argv.slice(2);
const require = createRequire(`${process.env.VENDORS_NODE}/package.json`);
const { createXai } = await import(pathToFileURL(require.resolve("@ai-sdk/xai")).href);
const xai = createXai({ baseURL: `${url}/v1`, apiKey: "sk-very-secret" });

let text = "";
for await (const chunk of process.stdin) text += chunk;
const { model, prompt, n, duration, aspect_ratio: aspectRatio, ...rest } = JSON.parse(text);

const clients = {
  async xai_picture() {
    const { response_format: _, ...more } = rest;
    const answer = await xai.image(model).doGenerate({ prompt, n, aspectRatio, providerOptions: { xai: more } });
    return `${answer.images.length} file`;
  },
  async xai_video() {
    const video = xai.video(model);
    const started = await video.doStart({ prompt, n: 1, duration, aspectRatio, providerOptions: { xai: rest } });
    const again = await video.doStatus({ operation: started.operation });
    return `${started.operation.requestId} ${again.status}`;
  },
};

console.log(await clients[name]());
