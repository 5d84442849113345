"""LangChain's image tool, unchanged: only the base address and the key are set."""

import sys
import urllib.request

from langchain_community.tools.openai_dalle_image_generation import OpenAIDALLEImageGenerationTool
from langchain_community.utilities.dalle_image_generator import DallEAPIWrapper

base, key = sys.argv[1:3]
wrapper = DallEAPIWrapper(api_key=key, base_url=f"{base}/v1", model="art-3", size="1024x1024")
tool = OpenAIDALLEImageGenerationTool(api_wrapper=wrapper)
address = tool.invoke("a lighthouse at dawn")
with urllib.request.urlopen(address) as answer:
    assert answer.read(8) == b"\x89PNG\r\n\x1a\n", "a picture at the address"
print("LangChain: 1 passed, 0 failed")
