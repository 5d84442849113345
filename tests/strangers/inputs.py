"""The worst that the OpenAPI document allows for every route: the longest texts, the largest arrays and numbers, the deepest page, the
oldest moment; and the example of the document with its texts made long, which is accepted and makes work: once with signs of four
bytes, once with as many different `@names` as there is room for, each of which might have to be looked up."""
import json
import urllib.parse

EMOJI = "\U0001f3d4"
# A body is not made larger than this, whatever the document allows: sixteen of them are sent at once.
MOST_BYTES = 2**20
# What has no bound of its own in the document.
UNBOUNDED_TEXT, UNBOUNDED_ITEMS = 10_000, 200
METHODS = ("get", "post", "put", "patch", "delete")
# A target longer than this is refused whatever it says.
MOST_TARGET = 6000
# Some models take less than the longest prompt of their operation; an example with this much is accepted by all.
SHORT = 900


def signs(most):
    return EMOJI * most


def few_signs(most):
    return EMOJI * min(most, SHORT)


def names(most):
    """Different names, as many as fit."""
    return " ".join(f"@{number:x}" for number in range(most // 3 + 1))[:most]


class Inputs:
    def __init__(self, document, address):
        self.document, self.address = document, address

    def resolved(self, schema):
        while "$ref" in schema:
            schema = self.document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        for word in ("anyOf", "oneOf", "allOf"):
            if word in schema:
                some = [one for one in schema[word] if one.get("type") != "null"]
                return self.resolved(some[-1]) if some else {}
        return schema

    def worst(self, schema, depth=0):
        """The largest value of a schema."""
        schema = self.resolved(schema)
        if values := [value for value in schema.get("enum", []) if value is not None]:
            return max(values, key=lambda value: len(str(value)))
        kinds = schema.get("type", "object" if "properties" in schema else "string")
        kind = next((one for one in kinds if one != "null"), "string") if isinstance(kinds, list) else kinds
        if kind == "object":
            return {} if depth > 4 else {name: self.worst(one, depth + 1) for name, one in schema.get("properties", {}).items()}
        if kind == "array":
            one = self.worst(schema.get("items", {}), depth + 1)
            room = max(1, MOST_BYTES // 4 // max(1, len(json.dumps(one))))
            return [one] * min(schema.get("maxItems", UNBOUNDED_ITEMS), room)
        if kind in ("integer", "number"):
            return schema.get("maximum", 2**31 - 1)
        return True if kind == "boolean" else self.text(schema)

    def text(self, schema):
        most = min(schema.get("maxLength", UNBOUNDED_TEXT), MOST_BYTES // 8)
        if schema.get("format") == "uri" or schema.get("x-widget") in ("address", "image"):
            return self.address + "?" + "a" * (min(most, 2048) - len(self.address) - 1)
        if "[0-9]{4}-[0-9]{2}-[0-9]{2}" in schema.get("pattern", ""):
            return "1970-01-01 00:00:00"
        return "~" * most if schema.get("pattern", "").startswith("^[!-~]") else EMOJI * most

    def lengthened(self, value, schema, filling):
        """An example with the longest prompts, and with addresses that lead somewhere."""
        schema = self.resolved(schema)
        if isinstance(value, dict):
            inside = schema.get("properties", {})
            return {name: self.lengthened(one, dict(self.resolved(inside.get(name, {})), name=name), filling) for name, one in value.items()}
        if isinstance(value, list):
            return [self.lengthened(one, schema.get("items", {}), filling) for one in value]
        if isinstance(value, str) and value.startswith("https://example.com/"):
            return self.address
        if isinstance(value, str) and schema.get("x-widget") == "prompt":
            return value + " " + filling(schema.get("maxLength", 2000) - len(value) - 1)
        return value

    def example(self, path):
        """The example of a POST, with addresses that lead somewhere."""
        content = self.document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        return self.lengthened(content["example"], content["schema"], lambda _: "")

    def of(self, method, path, operation, known_things):
        """Every variant for one route: (target, headers, body, kind)."""
        # Each family finds its own jobs only, and what deletes has things of its own to delete.
        ground = {**known_things, **known_things["tags"].get(operation["tags"][0], {}), **known_things["routes"].get(f"{method} {path}", {})}
        target, query, headers = path, {}, []
        for given in operation.get("parameters", []):
            name, schema = given["name"], given.get("schema", {})
            if given["in"] == "path":
                target = target.replace("{" + name + "}", ground.get((path, name)) or ground.get(name) or urllib.parse.quote(EMOJI * 100))
            elif given["in"] == "query":
                value = ground.get(name) or self.worst(schema)
                query[name] = str(value).lower() if isinstance(value, bool) else str(value)
        while query and len(urllib.parse.urlencode(query)) > MOST_TARGET:
            longest = max(query, key=lambda name: len(query[name]))
            query[longest] = query[longest][: len(query[longest]) // 2]
        known = {name: value for name, value in query.items() if name in ground or name in ("page", "limit", "q", "since")}
        targets = [target + ("?" + urllib.parse.urlencode(one) if one else "") for one in ([query, known] if known != query else [query])]
        # A page in the middle, and one without any words: a page too deep may be refused for a start.
        if "page" in query:
            targets.append(target + "?limit=" + query.get("limit", "100"))
        if "q" in query:
            targets.append(target + "?" + urllib.parse.urlencode({"limit": 100, "q": EMOJI * 190 + " 7"}))
        variants = []
        for kind, content in (operation.get("requestBody") or {}).get("content", {}).items():
            if kind != "application/json":
                continue
            schema = content.get("schema", {})
            worst = self.worst(schema)
            bodies = [worst]
            # Two ways to ask for an answer exclude each other.
            if isinstance(worst, dict) and {"async", "stream"} <= worst.keys():
                bodies = [{name: value for name, value in worst.items() if name not in without} for without in (("async",), ("stream", "partial_images"))]
            if "example" in content:
                for filling in (signs, names, few_signs):
                    body = self.lengthened(content["example"], schema, filling)
                    # An example without a prompt is the same both times.
                    if body not in bodies:
                        bodies.append(body)
                # The other models of the operation: what it needs, with the longest prompt, which may be too long for one and not for the next.
                models = self.resolved(self.resolved(schema).get("properties", {}).get("model", {})).get("enum", [])
                needed = {name: value for name, value in content["example"].items() if name in ("prompt", "image")}
                for model in models:
                    bodies.append({**self.lengthened(needed, schema, signs), "model": model})
            for body in bodies:
                for name in ("jobId", "job_id", "secret", "url"):
                    if isinstance(body, dict) and name in ground and name in body:
                        body = dict(body, **{name: ground[name]})
                if body in ([], {}) and variants:
                    continue
                variants.append((targets[-1] if "url" in query else targets[0], headers, json.dumps(body, ensure_ascii=False).encode(), kind))
        form = (operation.get("requestBody") or {}).get("content", {}).get("multipart/form-data")
        if form:
            is_edit = "image" in self.resolved(form.get("schema", {})).get("properties", {})
            variants.append((targets[0], headers, ground["edit_form" if is_edit else "form"], "multipart/form-data; boundary=b"))
        return variants or [(one, headers, None, None) for one in targets]

    def routes(self):
        for path, methods in self.document["paths"].items():
            for method in METHODS:
                if method in methods:
                    yield method.upper(), path, methods[method]
