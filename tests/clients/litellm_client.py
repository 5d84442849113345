"""LiteLLM as a client, unchanged: only the base address and the key are set."""

import base64
import io
import sys
import time
import urllib.request

import litellm
from PIL import Image

base, key = sys.argv[1:3]
at = {"api_base": f"{base}/v1", "api_key": key}
passed = 0


def check(name, truth):
    global passed
    assert truth, name
    passed += 1


made = litellm.image_generation(model="openai/art-2", prompt="a lighthouse", size="512x512", **at)
picture = urllib.request.urlopen(made.data[0].url).read()
check("a picture of the asked-for size", Image.open(io.BytesIO(picture)).size == (512, 512))
edited = litellm.image_edit(model="openai/image-1", prompt="make it night", image=io.BytesIO(picture), quality="low", **at)
check("an edited picture", Image.open(io.BytesIO(base64.b64decode(edited.data[0].b64_json))).format == "PNG")
video = litellm.video_generation(model="openai/video-2", prompt="a paper boat", seconds="4", **at)
for _ in range(1200):
    if video.status not in ("queued", "in_progress"):
        break
    time.sleep(0.5)
    video = litellm.video_status(video_id=video.id, custom_llm_provider="openai", **at)
check("a video is completed", video.status == "completed")
film = litellm.video_content(video_id=video.id, custom_llm_provider="openai", **at)
check("its file is a video", film[4:8] == b"ftyp")
asked = [{"role": "user", "content": "a lighthouse"}]
said = litellm.completion(model="openai/chat-image", messages=asked, **at)
check("a conversation is answered with a picture", said.choices[0].message.content.startswith("![image](http"))
check("which LiteLLM reads", said.choices[0].message.images[0]["image_url"]["url"].startswith("data:image/png"))
text = "".join(chunk.choices[0].delta.content or "" for chunk in litellm.completion(model="openai/chat-image", messages=asked, stream=True, **at))
check("a stream of it has one picture", text.count("![image](") == 1)
gemini = {"api_base": f"{base}/v1beta", "api_key": key}
made = litellm.image_generation(model="gemini/gemini-2.5-flash-image", prompt="a boat", **gemini)
check("a picture in Gemini's form", Image.open(io.BytesIO(base64.b64decode(made.data[0].b64_json))).format == "PNG")
edited = litellm.image_edit(model="gemini/gemini-2.5-flash-image", prompt="make it night", image=io.BytesIO(picture), **gemini)
check("an edited one in Gemini's form", edited.data[0].b64_json)
try:
    litellm.completion(model="openai/gpt-4o", messages=asked, num_retries=0, **at)
    raise AssertionError("not refused")
except litellm.BadRequestError as error:
    check("a text model is refused with what there is", "chat-image" in str(error))
print(f"LiteLLM: {passed} passed, 0 failed")
