"""Sends what an adapter sent, through the vendor's own client: vendors.py NAME URL, with the body on standard input.

Prints one line of what the client understood of the answer. The server compares the two requests.
"""

import json
import os
import re
import sys


def snake(name):
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def google_picture(url, body):
    from google import genai
    from google.genai import types

    client = genai.Client(api_key="sk-very-secret", http_options={"base_url": url, "api_version": "v1"})
    config = types.GenerateContentConfig.model_validate(body["generationConfig"])
    contents = [types.Content.model_validate(one) for one in body["contents"]]
    answer = client.models.generate_content(model="gemini-3.1-flash-image", contents=contents, config=config)
    files = [part.inline_data for part in answer.candidates[0].content.parts if part.inline_data]
    return f"{len(files)} file of {files[0].mime_type}"


def google_video(url, body):
    from google import genai

    client = genai.Client(api_key="sk-very-secret", http_options={"base_url": url, "api_version": "v1"})
    answer = client.interactions.create(**body)
    again = client.interactions.get(answer.id)
    return f"{answer.id} {again.status}"


def ark(url, body):
    from byteplussdkarkruntime import Ark

    client = Ark(base_url=url + "/v1", api_key="sk-very-secret")
    task = client.content_generation.tasks.create(**body)
    again = client.content_generation.tasks.get(task_id=task.id)
    return f"{task.id} {again.status}"


def dashscope(url, body):
    os.environ["DASHSCOPE_HTTP_BASE_URL"] = url + "/v1"
    import dashscope
    from dashscope import VideoSynthesis

    dashscope.base_http_api_url = url + "/v1"
    dashscope.api_key = "sk-very-secret"
    started = VideoSynthesis.async_call(model=body["model"], **body["input"], **body["parameters"])
    again = VideoSynthesis.fetch(started.output.task_id)
    return f"{started.output.task_id} {again.output.task_status}"


def replicate(url, body):
    import replicate

    client = replicate.Client(api_token="sk-very-secret", base_url=url)
    prediction = client.predictions.create(**body)
    again = client.predictions.get(prediction.id)
    return f"{prediction.id} {again.status}"


def fal(url, body):
    import fal_client
    import fal_client.client as internals

    internals.QUEUE_URL_FORMAT = internals.RUN_URL_FORMAT = url + "/v1/"
    client = fal_client.SyncClient(key="sk-very-secret")
    handle = client.submit("fal-ai/nano-banana-2", arguments=body)
    return f"{handle.request_id} {type(handle.status()).__name__}"


def runway(url, body):
    from runwayml import RunwayML

    client = RunwayML(api_key="sk-very-secret", base_url=url, max_retries=0)
    task = client.text_to_video.create(**{snake(name): value for name, value in body.items()})
    again = client.tasks.retrieve(task.id)
    return f"{task.id} {again.status}"


def luma(url, body):
    from luma_agents import Luma

    client = Luma(auth_token="sk-very-secret", base_url=url + "/v1", max_retries=0)
    task = client.generations.create(**body)
    again = client.generations.get(task.id)
    return f"{task.id} {again.state}"


def recraft(url, body):
    from openai import OpenAI

    client = OpenAI(api_key="sk-very-secret", base_url=url + "/v1", max_retries=0)
    known = {name: body.pop(name) for name in ("model", "prompt", "n", "size", "response_format") if name in body}
    answer = client.images.generate(**known, extra_body=body)
    return f"{len([one for one in answer.data if one.url])} file"


def novelai(url, body):
    os.environ["NOVELAI_IMAGE_BASE"] = url + "/v1"
    from novelai import NovelAI
    from novelai.types.api.image import ImageGenerationRequest

    # It refuses the number of its own word "none", so that is put in after the check.
    preset = body["parameters"].pop("ucPreset")
    request = ImageGenerationRequest.model_validate(body)
    request.parameters.ucPreset = preset
    images = NovelAI(api_key="sk-very-secret").api_client.image.generate(request)
    return f"{len(images)} file"


name, url = sys.argv[1:3]
print(globals()[name](url, json.load(sys.stdin)))
