// Sends what an adapter sent, through a client for JavaScript: vendors.mjs NAME URL, with the body on standard input. Prints one
// line of what the client understood of the answer. The server compares the two requests.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [name, url] = process.argv.slice(2);
const require = createRequire(`${process.env.VENDORS_NODE}/package.json`);
const load = (library) => import(pathToFileURL(require.resolve(library)).href);
const apiKey = "sk-very-secret";

let text = "";
for await (const chunk of process.stdin) text += chunk;
const { model, prompt, n, duration, aspect_ratio: aspectRatio, ...rest } = JSON.parse(text);

async function xai() {
  const { createXai } = await load("@ai-sdk/xai");
  return createXai({ baseURL: `${url}/v1`, apiKey });
}

async function filmed(video, options) {
  const started = await video.doStart({ prompt, n: 1, duration, ...options });
  const again = await video.doStatus({ operation: started.operation });
  return `${started.operation.requestId ?? started.operation.taskId} ${again.status}`;
}

const clients = {
  async xai_picture() {
    const { response_format: _, ...more } = rest;
    const options = { prompt, n, aspectRatio, providerOptions: { xai: more } };
    const answer = await (await xai()).image(model).doGenerate(options);
    return `${answer.images.length} file`;
  },
  async xai_video() {
    return filmed((await xai()).video(model), { aspectRatio, providerOptions: { xai: rest } });
  },
  async xai_extension() {
    const { video, ...more } = rest;
    const asked = { ...more, mode: "extend-video", videoUrl: video.url };
    return filmed((await xai()).video(model), { providerOptions: { xai: asked } });
  },
  async minimax() {
    const { createMiniMax } = await load("@ai-sdk/minimax");
    const video = createMiniMax({ videoBaseURL: `${url}/v1`, apiKey }).video(model);
    const { content, resolution, ratio, aigc_watermark: aigcWatermark } = rest;
    return filmed(video, {
      prompt: content[0].text,
      aspectRatio: ratio,
      providerOptions: { minimax: { resolution, aigcWatermark } },
    });
  },
  async bfl() {
    const { createBlackForestLabs } = await load("@ai-sdk/black-forest-labs");
    const { width, height, output_format: outputFormat } = rest;
    const bfl = createBlackForestLabs({ baseURL: `${url}/v1`, apiKey, pollIntervalMillis: 50 });
    const asked = { width, height, outputFormat };
    const options = { prompt, n: 1, providerOptions: { blackForestLabs: asked } };
    const answer = await bfl.image("flux-2-pro").doGenerate(options);
    return `${answer.images.length} file`;
  },
};

console.log(await clients[name]());
