"""The vendor's own Python library, unchanged: only the base address and the key are set."""

import base64
import io
import sys

from openai import AuthenticationError, BadRequestError, OpenAI
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

error = refused(BadRequestError, lambda: client.images.generate(model="art-3", prompt="x", n=2))
check("bad input names the field", error.param == "n" and error.code == "invalid_parameter")
error = refused(AuthenticationError, lambda: OpenAI(base_url=f"{base}/v1", api_key="wrong", max_retries=0).images.generate(prompt="x"))
check("a bad key is an authentication error", error.code == "unauthorized")
poor = OpenAI(base_url=f"{base}/v1", api_key=poor_key, max_retries=0)
error = refused(BadRequestError, lambda: poor.images.generate(model="art-3", prompt="x"))
check("no quota says so", error.code == "insufficient_quota")
print(f"openai (Python): {passed} passed, 0 failed")
