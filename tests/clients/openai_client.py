"""The vendor's own Python library, unchanged: only the base address and the key are set."""

import base64
import io
import json
import sys
import time

import httpx
from openai import APIError, AuthenticationError, BadRequestError, OpenAI
from PIL import Image

base, key, poor_key = sys.argv[1:4]
client = OpenAI(base_url=f"{base}/v1", api_key=key, max_retries=0, timeout=120)
passed = 0


def check(name, truth):
    global passed
    assert truth, name
    passed += 1


def picture(b64):
    return Image.open(io.BytesIO(base64.b64decode(b64)))


def refused(error_type, call):
    try:
        call()
    except error_type as error:
        return error
    raise AssertionError(f"{error_type.__name__} was expected")


answer = client.images.generate(model="art-3", prompt="a lighthouse at dawn", size="1024x1024", response_format="b64_json")
image = picture(answer.data[0].b64_json)
check("a picture of the asked-for size", image.size == (1024, 1024))
check("art-3 tells the prompt it used", bool(answer.data[0].revised_prompt))

answer = client.images.generate(model="art-2", prompt="a small boat", size="256x256", n=2)
check("two addresses", len(answer.data) == 2 and all(one.url.startswith(base) for one in answer.data))

answer = client.images.generate(model="image-1", prompt="a fox", size="1024x1024", quality="low", output_format="webp")
check("the asked-for format", picture(answer.data[0].b64_json).format == "WEBP")
check("usage is told", answer.usage is not None and answer.usage.total_tokens > 0)

stream = client.images.generate(model="image-1", prompt="a fox", quality="low", n=2, stream=True, partial_images=2)
events = [event for event in stream if event.type != "image_generation.partial_image"]
check("a stream brings every picture", [event.type for event in events] == ["image_generation.completed"] * 2)
check("with its size and format", picture(events[0].b64_json).size == (1024, 1024) and events[0].size == "1024x1024")
check("and what it says of itself", (events[0].quality, events[0].background, events[0].output_format) == ("low", "opaque", "png"))
check("usage is told there, too", events[0].usage.total_tokens > 0 and events[0].created_at > 1_700_000_000)
error = refused(APIError, lambda: list(client.images.generate(model="image-1", prompt="[[reject]]", quality="low", stream=True)))
check("a failure in a stream is thrown", error.code == "content_rejected")
error = refused(BadRequestError, lambda: client.images.generate(model="art-3", prompt="x", stream=True))
check("a model without a stream says so", error.param == "stream")

answer = client.images.generate(model="seedream-4-5", prompt="a fox", quality="low")
check("a model that nobody compiled, in its own size", picture(answer.data[0].b64_json).size == (640, 640) and answer.size == "640x640")
stream = client.images.generate(model="seedream-4-5", prompt="a fox", quality="low", stream=True)
check("it can be streamed", [event.type for event in stream][-1] == "image_generation.completed")
check("and is listed with the others", "seedream-4-5" in [one.id for one in client.models.list()] and client.models.retrieve("seedream-4-5").owned_by == "imgmodel")
error = refused(BadRequestError, lambda: client.images.generate(model="seedream-4-5", prompt="x", size="1536x1024"))
check("what it does not offer is refused by name", error.param == "size" and "seedream-4-5" in error.message)

buffer = io.BytesIO()
image.resize((256, 256)).convert("RGBA").save(buffer, "PNG")
mask = Image.new("RGBA", (256, 256), (0, 0, 0, 255))
mask.paste((0, 0, 0, 0), (64, 64, 192, 192))
mask_buffer = io.BytesIO()
mask.save(mask_buffer, "PNG")
answer = client.images.edit(
    model="art-2", prompt="a red balloon", size="256x256", response_format="b64_json",
    image=("image.png", buffer.getvalue(), "image/png"), mask=("mask.png", mask_buffer.getvalue(), "image/png"),
)
check("an edited picture", picture(answer.data[0].b64_json).size == (256, 256))

stream = client.images.edit(
    model="image-1", prompt="at night", quality="low", stream=True, image=("image.png", buffer.getvalue(), "image/png"),
)
events = [event for event in stream if event.type != "image_edit.partial_image"]
check("an edit is streamed from a form", [event.type for event in events] == ["image_edit.completed"])
check("and is a picture", picture(events[0].b64_json).format == "PNG")

later = client.images.with_raw_response.generate(model="art-2", prompt="a boat", size="256x256", extra_body={"async": True})
check("a picture that is not waited for", later.status_code == 202 and later.headers["location"].startswith(base))
pending = json.loads(later.content)
while (answer := client.get(f"/images/{pending['id']}", cast_to=httpx.Response)).status_code == 202:
    time.sleep(0.1)
check("is answered later", answer.json()["data"][0]["url"].startswith(base))

error = refused(BadRequestError, lambda: client.images.generate(model="art-3", prompt="x", n=2))
check("bad input names the field", error.param == "n" and error.code == "invalid_parameter")
error = refused(AuthenticationError, lambda: OpenAI(base_url=f"{base}/v1", api_key="wrong", max_retries=0).images.generate(prompt="x"))
check("a bad key is an authentication error", error.code == "unauthorized")
poor = OpenAI(base_url=f"{base}/v1", api_key=poor_key, max_retries=0)
error = refused(BadRequestError, lambda: poor.images.generate(model="art-3", prompt="x"))
check("no quota says so", error.code == "insufficient_quota")

models = {model.id for model in client.models.list()}
check("models are listed", {"image-1", "art-3", "video-2"} <= models)
check("a model is shown", client.models.retrieve("image-1").owned_by == "imgmodel")

video = client.videos.create_and_poll(prompt="a paper boat on a canal", seconds="4", size="1280x720", poll_interval_ms=200)
check("a video is completed", (video.status, video.progress, video.seconds, video.size) == ("completed", 100, "4", "1280x720"))
check("its file is a video", client.videos.download_content(video.id).read()[4:8] == b"ftyp")
thumbnail = Image.open(io.BytesIO(client.videos.download_content(video.id, variant="thumbnail").read()))
check("its first frame is a picture", thumbnail.size == (1280, 720))
reference = io.BytesIO()
image.resize((720, 1280)).save(reference, "PNG")
referred = client.videos.create_and_poll(prompt="it moves", input_reference=("a.png", reference.getvalue(), "image/png"), poll_interval_ms=200)
check("a picture may be given along", referred.status == "completed")
remix = client.videos.remix(video.id, prompt="the same boat in the rain")
remix = client.videos.poll(remix.id, poll_interval_ms=200)
check("a remix keeps size and length", (remix.status, remix.size, remix.remixed_from_video_id) == ("completed", "1280x720", video.id))
listed = [one.id for one in client.videos.list(limit=2)]
check("videos are listed page by page", listed == [remix.id, referred.id, video.id])
check("a video is deleted", client.videos.delete(video.id).deleted)
error = refused(BadRequestError, lambda: client.videos.retrieve(video.id))
check("and is gone", error.code == "job_not_found")
failed = client.videos.create_and_poll(prompt="[[reject]]", poll_interval_ms=200)
check("a failure says why", failed.status == "failed" and failed.error.code == "content_rejected")
error = refused(BadRequestError, lambda: client.videos.create(prompt="x", seconds="5"))
check("a bad length names the field", error.param == "seconds")
said = client.chat.completions.create(model="chat-image", messages=[{"role": "user", "content": "a lighthouse"}], user="u-1")
check("a conversation is answered with a picture", said.choices[0].message.content.startswith("![image](http"))
check("which comes along", said.choices[0].message.images[0]["image_url"]["url"].startswith("data:image/png;base64,"))
asked = [{"role": "user", "content": [{"type": "text", "text": "make it night"}, {"type": "image_url", "image_url": {"url": said.choices[0].message.images[0]["image_url"]["url"]}}]}]
stream = client.chat.completions.create(model="image-1", messages=asked, stream=True, stream_options={"include_usage": True}, temperature=0.3)
chunks = list(stream)
texts = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
check("a stream of it has one picture", "".join(texts).count("![image](") == 1)
check("and its usage at the end", chunks[-1].usage.total_tokens > 0)
error = refused(BadRequestError, lambda: client.chat.completions.create(model="gpt-4o", messages=asked))
check("a text model is refused with what there is", error.param == "model" and "chat-image" in str(error))
print(f"openai (Python): {passed} passed, 0 failed")
