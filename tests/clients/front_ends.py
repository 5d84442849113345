"""Requests in the shapes of programs that cannot be run here, over plain HTTP. The shapes were read from their sources:
QuantumNous/new-api 2d8e50bf (relay/channel/task, relay/channel/gemini), open-webui ecd48e2f (backend/open_webui/routers/images.py),
lobehub/lobe-chat e96c0144 (packages/model-runtime), CherryHQ/cherry-studio 09c753f2 (src/main/ai/provider), ChatGPTNextWeb/NextChat
706a18b9 (app/client/platforms/google.ts), Dooy/chatgpt-web-midjourney-proxy 969a9e53 (src/api/kling.ts, src/api/mjapi.ts)."""

import base64
import io
import json
import sys
import time
import urllib.error
import urllib.request

from PIL import Image

base, key = sys.argv[1:3]
passed = 0
picture = io.BytesIO()
Image.new("RGB", (64, 64), "teal").save(picture, "PNG")
PICTURE = base64.b64encode(picture.getvalue()).decode()
DATA = f"data:image/png;base64,{PICTURE}"


def check(name, truth, said=""):
    global passed
    assert truth, f"{name}: {said}"
    passed += 1


def call(path, body=None, raw=False, **headers):
    headers = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    request = urllib.request.Request(base + path, headers=headers, data=None if body is None else json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            text = answer.read().decode()
            return answer.status, text if raw else json.loads(text)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def until(ask, over):
    # A video takes minutes where two processors draw it and build something else.
    for _ in range(1200):
        _, seen = ask()
        if over(seen):
            return seen
        time.sleep(0.5)
    raise AssertionError(seen)


bearer = {"Authorization": f"Bearer {key}"}
google = {"x_goog_api_key": key}

# new-api with this service as its upstream: its task adaptor for Kling, with a key that begins with sk- there.
body = {"prompt": "a boat", "mode": "std", "duration": "5", "aspect_ratio": "16:9", "model_name": "motion-v1", "model": "motion-v1", "cfg_scale": 0.5}
agent = {"Accept": "application/json", "User_Agent": "kling-sdk/1.0"}
status, begun = call("/kling/v1/videos/text2video", body, **bearer, **agent)
check("new-api: Kling task", status == 200 and begun["code"] == 0 and begun["data"]["task_id"], begun)
path = f"/kling/v1/videos/text2video/{begun['data']['task_id']}"
seen = until(lambda: call(path, **bearer, **agent), lambda seen: seen["data"]["task_status"] in ("succeed", "failed"))
check("new-api: its video", seen["data"]["task_result"]["videos"][0]["url"], seen)
# Its adaptor for Jimeng.
body = {"req_key": "jimeng_vgfm_t2v_l20", "prompt": "a boat", "seed": 0, "aspect_ratio": "16:9", "frames": 97}
status, begun = call("/jimeng/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31", body, **bearer)
check("new-api: Jimeng task", status == 200 and begun["code"] == 10000 and begun["data"]["task_id"], begun)
asked = {"req_key": "jimeng_vgfm_t2v_l20", "task_id": begun["data"]["task_id"]}
fetch = "/jimeng/?Action=CVSync2AsyncGetResult&Version=2022-08-31"
seen = until(lambda: call(fetch, asked, **bearer), lambda seen: seen["code"] != 10000 or seen["data"]["status"] == "done")
check("new-api: its video by Jimeng", seen["data"]["video_url"], seen)
# What its own callers send, every field of its struct with its zero where nothing was meant.
body = {"model": "video-2", "prompt": "a boat", "duration": 0, "width": 0, "height": 0, "metadata": {"aspect_ratio": "9:16"}}
status, begun = call("/v1/video/generations", body, **bearer)
check("a caller of new-api", status == 200 and begun["task_id"] and begun["status"] == "queued" or begun["status"] == "in_progress", begun)
seen = until(lambda: call(f"/v1/video/generations/{begun['task_id']}", **bearer), lambda seen: seen["data"]["status"] in ("SUCCESS", "FAILURE"))
check("its video", seen["code"] == "success" and seen["data"]["progress"] == "100%" and seen["data"]["result_url"], seen)

# Open WebUI: images by Gemini's two calls, the older with one instance that is no list; edits.
body = {"instances": {"prompt": "a boat"}, "parameters": {"sampleCount": 1, "outputOptions": {"mimeType": "image/png"}}}
status, made = call("/v1beta/models/art-2:predict", body, **google)
check("Open WebUI: predict", status == 200 and made["predictions"][0]["bytesBase64Encoded"], made)
status, made = call("/v1beta/models/chat-image:generateContent", {"contents": [{"parts": [{"text": "a boat"}]}]}, **google)
check("Open WebUI: generateContent", made["candidates"][0]["content"]["parts"][0]["inlineData"]["data"], made)
parts = [{"text": "make it night"}, {"inline_data": {"mime_type": "image/png", "data": PICTURE}}]
status, made = call("/v1beta/models/image-1:generateContent", {"contents": [{"parts": parts}]}, **google)
check("Open WebUI: an edit", made["candidates"][0]["content"]["parts"][0]["inlineData"]["data"], made)
# Its chat: a conversation with what it knows of models, as a stream.
body = {
    "stream": True, "model": "chat-image", "messages": [{"role": "user", "content": "a boat"}], "stream_options": {"include_usage": True},
    "params": {}, "features": {"image_generation": False}, "session_id": "s", "chat_id": "c", "id": "i", "background_tasks": {},
}  # fmt: skip
status, text = call("/v1/chat/completions", body, raw=True, **bearer)
check("Open WebUI: a chat", status == 200 and "![image](" in text and text.endswith("data: [DONE]\n\n"), text[-300:])

# LobeChat: reads pictures of a stream where it knows them from, and progress as thinking.
body = {
    "messages": [{"role": "user", "content": [{"type": "text", "text": "a boat"}, {"type": "image_url", "image_url": {"detail": "auto", "url": DATA}}]}],
    "model": "chat-image", "stream": True, "stream_options": {"include_usage": True}, "temperature": 1, "top_p": 1, "presence_penalty": 0,
    "frequency_penalty": 0,
}  # fmt: skip
status, text = call("/v1/chat/completions", body, raw=True, **bearer)
events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
deltas = [choice["delta"] for event in events for choice in event["choices"]]
images = [image for delta in deltas for image in delta.get("images") or []]
check("LobeChat: the picture of a stream", images[0]["image_url"]["url"].startswith("data:image/png;base64,"), text[:300])
check("LobeChat: progress is no answer", all("%" not in (delta.get("content") or "") for delta in deltas))

# NextChat: Gemini's stream, with roles and settings of safety.
body = {
    "contents": [{"role": "user", "parts": [{"text": "a boat"}]}],
    "generationConfig": {"temperature": 0.5, "maxOutputTokens": 4000, "topP": 1},
    "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_ONLY_HIGH"}],
}
status, text = call("/v1beta/models/chat-image:streamGenerateContent?alt=sse", body, raw=True, **google)
events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
check("NextChat: a stream", events[-1]["candidates"][0]["finishReason"] == "STOP", text[:300])

# Cherry Studio: new-api's provider draws by chat completions and by images.
body = {"model": "chat-image", "messages": [{"role": "user", "content": "a boat"}], "modalities": ["image", "text"], "stream": False}
status, made = call("/v1/chat/completions", body, **bearer)
check("Cherry Studio: a chat", made["choices"][0]["message"]["images"][0]["image_url"]["url"].startswith("data:"), made)

# chatgpt-web-midjourney-proxy: submits, edits, shortens and follows by buttons.
secret = {"mj_api_secret": key}
body = {"base64Array": [], "notifyHook": "", "prompt": "a boat", "state": "", "botType": "MID_JOURNEY"}
status, begun = call("/mj/submit/imagine", body, **secret)
check("mj: imagine", begun["code"] in (1, 22), begun)
task = lambda: call(f"/mj/task/{begun['result']}/fetch", **secret)  # noqa: E731
grid = until(task, lambda seen: seen["status"] in ("SUCCESS", "FAILURE"))
check("mj: its task", grid["progress"] == "100%" and grid["buttons"], grid)
for call_path, body in (
    ("/mj/submit/shorten", {"prompt": "a very old and beautiful boat on a quiet lake", "botType": "MID_JOURNEY"}),
    ("/mj/submit/edits", {"prompt": "make it night", "image": DATA, "botType": "MID_JOURNEY"}),
    ("/mj/submit/describe", {"base64": DATA, "botType": "MID_JOURNEY"}),
    ("/mj/submit/action", {"taskId": grid["id"], "customId": grid["buttons"][0]["customId"], "chooseSameChannel": True}),
):
    status, begun = call(call_path, body, **secret)
    check(f"mj: {call_path}", begun["code"] in (1, 22), begun)
    seen = until(task, lambda seen: seen["status"] in ("SUCCESS", "FAILURE"))
    check(f"mj: {call_path} ends well", seen["status"] == "SUCCESS", seen)
# Its page for Kling reads the words of a refusal under `error`.
status, refused = call("/kling/v1/videos/image2video", {"model_name": "kling-v1", "prompt": "x"}, **bearer)
check("its page for Kling shows why", status == 400 and refused["error"]["message"], refused)
print(f"front ends' shapes: {passed} passed, 0 failed")
