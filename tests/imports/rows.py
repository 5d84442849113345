"""What is in the databases that are taken over: a handful of rows for everything that can be the matter with one, and many for size."""

import hashlib
import json
import time

NOW = int(time.time())


def key_of(number, length=48):
    """A key as those programs make them: letters and digits."""
    return hashlib.sha512(f"key {number}".encode()).hexdigest()[:length]


def user(number, name, quota, **more):
    return {
        "id": number, "username": name, "password": "x", "display_name": name, "role": 1, "status": 1, "email": "", "quota": quota,
        "used_quota": 0, "request_count": 0, "group": "default", "aff_code": f"a{number}", **more,
    }  # fmt: skip


def token(number, owner, **more):
    return {
        "id": number, "user_id": owner, "key": key_of(number), "status": 1, "name": f"token {number}", "created_time": NOW - 1000,
        "accessed_time": NOW, "expired_time": -1, "remain_quota": 0, "unlimited_quota": True, "used_quota": 0, **more,
    }  # fmt: skip


def channel(number, kind, name, models, **more):
    return {
        "id": number, "type": kind, "key": f"sk-vendor-{number}", "status": 1, "name": name, "weight": 0, "created_time": NOW, "base_url": "",
        "other": "", "balance": 0.0, "models": models, "group": "default", "used_quota": 0, "model_mapping": "", "priority": 0, **more,
    }  # fmt: skip


OPTIONS = [
    {"key": "QuotaPerUnit", "value": "500000"},
    {"key": "GroupRatio", "value": json.dumps({"default": 1, "vip": 0.8})},
    {"key": "ModelPrice", "value": json.dumps({"dall-e-3": 0.04, "gpt-image-1": 0.02, "mj_imagine": 0.1})},
]


def new_api():
    deleted = {"deleted_at": "2026-01-02 03:04:05"}
    users = [
        user(1, "root", 100_000_000, role=100),
        user(2, "alice", 5_000_000, email="alice@example.com", group="vip"),
        user(3, "bob", 1_234_567, email="bob@example.com"),
        user(4, "carol", 250_000, email="Bob@Example.com"),
        user(5, "dave", -750_000, email="dave@example.com"),
        user(6, "erin", 500_000, email="erin@example.com", status=2),
        user(7, "frank", 1_000_000, email="frank@example.com", **deleted),
        user(8, "grace", 0, email="grace@example.com", **deleted),
        user(9, "张三", 499),
        user(10, "heidi", 0, email="not an address", group="svip"),
    ]
    users = [{"deleted_at": None, "aff_quota": 7000 if row["id"] == 3 else 0, "created_at": NOW - 5000, **row} for row in users]
    tokens = [
        token(1, 2),
        token(2, 2, unlimited_quota=False, remain_quota=600_000, name="limited"),
        token(3, 3, status=4, unlimited_quota=False, remain_quota=0, name="used up"),
        token(4, 3, status=2, name="switched off"),
        token(5, 3, expired_time=NOW - 100, name="over"),
        token(6, 3, expired_time=NOW + 86_400, name="for a day"),
        token(7, 7, name="of somebody who was deleted"),
        token(8, 2, deleted_at="2026-01-02 03:04:05", name="deleted"),
        token(9, 4, model_limits_enabled=True, model_limits="dall-e-3,gpt-image-1", name="two models"),
        token(10, 4, allow_ips="127.0.0.1\n10.0.0.0/8", name="two networks"),
        token(11, 3, key="with-a-dash", name="never worked"),
        token(12, 5, name="of somebody who owes"),
        token(13, 6, name="of somebody who is switched off"),
        token(14, 2, group="vip", name="with a group"),
        token(15, 4, allow_ips="10.0.0.0/8", name="elsewhere"),
        token(16, 9, name="of somebody without an address"),
    ]
    usual = {"model_limits_enabled": False, "model_limits": "", "allow_ips": "", "group": "", "cross_group_retry": False, "auto_groups": "", "deleted_at": None}
    tokens = [{**usual, **row} for row in tokens]
    several = json.dumps({"is_multi_key": True, "multi_key_size": 3, "multi_key_status_list": {"1": 2}})
    one = json.dumps({"is_multi_key": False})
    channels = [
        channel(1, 1, "OpenAI main", "gpt-4o,gpt-image-1,dall-e-3", priority=10, weight=3, model_mapping='{"gpt-image-1":"gpt-image-2"}'),
        channel(2, 1, "OpenAI spare", "gpt-image-1", base_url="https://spare.example.com", status=2),
        channel(3, 5, "Midjourney", "mj_imagine,mj_upscale", base_url="http://127.0.0.1:9"),
        channel(4, 50, "Kling", "kling-v1,kling-v2-master", key="ak1|sk1\nak2|sk2\nak3|sk3", channel_info=several),
        channel(5, 36, "Suno", "suno_music"),
        channel(6, 14, "Claude", "claude-sonnet-4"),
        channel(7, 24, "Gemini", "gemini-2.5-flash,gemini-2.5-flash-image", param_override='{"temperature":1}'),
        channel(8, 51, "Jimeng", "jimeng_vgfm_t2v_l20"),
    ]
    usual = {"channel_info": one, "param_override": None, "header_override": None, "setting": None, "auto_ban": 1}
    channels = [{**usual, **row} for row in channels]
    redemptions = [{"id": 1, "user_id": 1, "key": key_of("code", 32), "status": 1, "quota": 500_000}]
    return {"users": users, "tokens": tokens, "channels": channels, "options": OPTIONS, "redemptions": redemptions}


def one_api():
    users = [
        user(1, "root", 500_000_000_000_000, role=100),
        user(2, "alice", 5_000_000, email="alice@example.com", group="vip"),
        user(3, "deleted_x", 40_000, status=3),
        user(4, "bob", 700_000, email="bob@example.com"),
    ]
    users = [{"access_token": key_of(f"access {row['id']}", 32), **row} for row in users]
    tokens = [
        token(1, 2),
        token(2, 4, models="dall-e-3,gpt-image-1", name="two models"),
        token(3, 4, subnet="127.0.0.1/32,10.0.0.0/8", name="two networks"),
        token(4, 3, name="of somebody who was deleted"),
    ]
    tokens = [{"models": None, "subnet": "", **row} for row in tokens]
    channels = [
        channel(1, 1, "OpenAI", "gpt-4o,dall-e-3"),
        channel(2, 40, "Doubao", "doubao-seedream-4-0,doubao-seedance-1-0"),
        channel(3, 14, "Claude", "claude-3"),
    ]
    channels = [{"config": "", "system_prompt": None, **row} for row in channels]
    return {"users": users, "tokens": tokens, "channels": channels, "options": OPTIONS[:2]}


def many(count):
    """So many users of new-api, each with a key; every hundredth owes, every thousandth has no address."""
    users, tokens = [], []
    for number in range(1, count + 1):
        email = "" if number % 1000 == 0 else f"user{number}@example.com"
        quota = -1_000 * number if number % 100 == 0 else 1_000 * number + number % 7
        users.append(
            user(number, f"user{number}", quota, email=email, deleted_at=None, aff_quota=0, created_at=NOW - 5000)
        )
        row = token(number, number, model_limits_enabled=False, model_limits="", allow_ips="", group="", deleted_at=None)
        tokens.append({**row, "unlimited_quota": number % 2 == 0, "remain_quota": 500 * number})
    return {"users": users, "tokens": tokens, "options": OPTIONS}


# LiteLLM: what `litellm.proxy` writes, with keys as it hashes them.
LITELLM_KEYS = {"sk-user-Key_1": 1, "sk-team-2": 2, "sk-alone-3": 3, "sk-blocked-4": 4, "sk-over-5": 5, "plain.key:6": 6}


def hashed(key):
    return hashlib.sha256(key.encode()).hexdigest()


def litellm(seal):
    """Rows by table; `seal` seals a text as that program does."""

    def key(text, **more):
        return {
            "token": hashed(text), "key_name": f"sk-...{text[-4:]}", "key_alias": f"alias of {text[-1]}", "spend": 0.25, "models": [],
            "user_id": None, "team_id": None, "max_budget": None, "budget_duration": None, "budget_id": None, "expires": None, "blocked": None,
            "rpm_limit": None, **more,
        }  # fmt: skip

    def model(number, name, params, info, sealed=True):
        params = {field: seal(value) if sealed and isinstance(value, str) else value for field, value in params.items()}
        return {
            "model_id": f"model-{number}", "model_name": name, "litellm_params": json.dumps(params), "model_info": json.dumps(info),
            "created_by": "x", "updated_by": "x",
        }  # fmt: skip

    return {
        "LiteLLM_BudgetTable": [{"budget_id": "b-1", "max_budget": 3.5, "created_by": "x", "updated_by": "x"}],
        "LiteLLM_UserTable": [
            {"user_id": "u-1", "user_email": "ann@example.com", "max_budget": 10.0, "spend": 1.5},
            {"user_id": "u-2", "user_email": None, "max_budget": None, "spend": 0.0},
            {"user_id": "u-3", "user_email": "ANN@example.com", "max_budget": 1.0, "spend": 1.25},
        ],
        "LiteLLM_TeamTable": [
            {"team_id": "t-1", "team_alias": "The Team", "max_budget": 100.0, "spend": 0.123456789, "blocked": False},
        ],
        "LiteLLM_VerificationToken": [
            key("sk-user-Key_1", user_id="u-1", max_budget=2.0, budget_duration="1d"),
            key("sk-team-2", team_id="t-1", user_id="u-2", models=["all-team-models"]),
            key("sk-alone-3", budget_id="b-1", models=["dall-e-3", "gpt-4o"], rpm_limit=10),
            key("sk-blocked-4", user_id="u-1", blocked=True),
            key("sk-over-5", user_id="u-1", expires="2026-01-01 00:00:00"),
            key("plain.key:6", user_id="u-2"),
        ],
        "LiteLLM_ProxyModelTable": [
            model(1, "dall-e-3", {"model": "openai/dall-e-3", "api_key": "sk-one"}, {"mode": "image_generation", "output_cost_per_image": 0.04}),
            model(2, "gpt-4o", {"model": "openai/gpt-4o", "api_key": "sk-one"}, {"mode": "chat"}),
            model(3, "flux-pro", {"model": "black_forest_labs/flux-pro-1.1", "api_key": "os.environ/BFL_KEY"}, {}),
            model(4, "claude", {"model": "anthropic/claude-3", "api_key": "sk-ant"}, {}),
            model(5, "gpt-image-1", {"model": "azure/gpt-image-1", "api_base": "https://a.openai.azure.com", "api_key": "k", "weight": 2}, {}, sealed=False),
        ],
    }


def midjourney_proxy():
    """Lines as MongoDB and LiteDB export them."""
    return [
        {"_id": "u1", "Name": "ada", "Email": "ada@example.com", "Token": "token-of-ada", "Role": 0, "Status": 0, "DayDrawLimit": 10,
         "TotalDrawLimit": {"$numberInt": "100"}, "TotalDrawCount": {"$numberInt": "40"}, "QueueSize": -1,
         "CreateTime": {"$date": "2026-01-02T03:04:05Z"}},
        {"_id": {"$oid": "65f0"}, "name": "ben", "email": None, "token": "mj-ben", "role": "USER", "status": "NORMAL", "dayDrawLimit": -1,
         "totalDrawLimit": -1, "totalDrawCount": 3},
        {"_id": "u3", "Name": "eve", "Email": "eve@example.com", "Token": "token-of-eve", "Role": 0, "Status": 1, "TotalDrawLimit": 5,
         "TotalDrawCount": 9},
        {"_id": "123", "ChannelId": "123", "GuildId": "456", "UserToken": "secret", "Enable": True},
    ]  # fmt: skip
