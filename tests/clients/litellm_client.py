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
for _ in range(300):
    if video.status not in ("queued", "in_progress"):
        break
    time.sleep(0.2)
    video = litellm.video_status(video_id=video.id, custom_llm_provider="openai", **at)
check("a video is completed", video.status == "completed")
film = litellm.video_content(video_id=video.id, custom_llm_provider="openai", **at)
check("its file is a video", film[4:8] == b"ftyp")
print(f"LiteLLM: {passed} passed, 0 failed")
