"""Google's own library, unchanged: only the base address and the key are set."""

import base64
import io
import sys

from google import genai
from google.genai import errors, types
from PIL import Image

base, key, poor = sys.argv[1:4]
passed = 0


def check(name, truth):
    global passed
    assert truth, name
    passed += 1


def at(key):
    return genai.Client(api_key=key, http_options=types.HttpOptions(base_url=base))


def pictures(answer):
    parts = [part for candidate in answer.candidates or [] for part in candidate.content.parts or []]
    return [Image.open(io.BytesIO(part.inline_data.data)) for part in parts if part.inline_data]


client = at(key)
answer = client.models.generate_content(model="chat-image", contents="a lighthouse at dawn")
check("a picture of words", pictures(answer)[0].format == "PNG")
check("tokens are counted", answer.usage_metadata.total_token_count > 0)
check("the model is named", answer.model_version == "chat-image")
picture = io.BytesIO()
pictures(answer)[0].resize((64, 64)).save(picture, "PNG")
part = types.Part.from_bytes(data=picture.getvalue(), mime_type="image/png")
config = types.GenerateContentConfig(response_modalities=["IMAGE"], image_config=types.ImageConfig(aspect_ratio="3:2"), temperature=0.5)
edited = client.models.generate_content(model="image-1", contents=["make it night", part], config=config)
check("an edited picture in a shape", pictures(edited)[0].size == (1536, 1024))
streamed = list(client.models.generate_content_stream(model="chat-image", contents="a fox"))
check("a stream ends with its picture", len([one for event in streamed for one in pictures(event)]) == 1)
names = [model.name for model in client.models.list()]
check("picture models are listed", {"models/chat-image", "models/image-1"} <= set(names))
chat = client.chats.create(model="chat-image")
first = chat.send_message("a red boat")
check("a chat draws", pictures(first))
check("and again", pictures(chat.send_message("now a blue one")))
for wrong, model, status in ((key, "gemini-3-pro", 400), ("wrong", "chat-image", 401), (poor, "chat-image", 400)):
    # One that nobody holds closes itself.
    asking = at(wrong)
    try:
        asking.models.generate_content(model=model, contents="x")
        raise AssertionError("not refused")
    except errors.ClientError as error:
        check(f"{model} with {wrong[:5]} is refused", error.code == status and error.message)
print(f"google-genai (Python): {passed} passed, 0 failed")
