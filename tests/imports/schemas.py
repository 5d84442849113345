"""The tables of new-api and one-api, in the types that gorm gives them on each database. Written by hand after `model/*.go` of
QuantumNous/new-api 2d8e50bf36e94200b809dfb39e73624ec48b1e23 and songquanpeng/one-api 8df4a2670b98266bd287c698243fff327d9748cf:
the columns and their kinds are theirs, the text is not."""

# What a kind is called on SQLite, PostgreSQL and MySQL.
KINDS = {
    "id": ("integer PRIMARY KEY AUTOINCREMENT", "bigserial PRIMARY KEY", "bigint AUTO_INCREMENT PRIMARY KEY"),
    "int": ("integer", "bigint", "bigint"),
    "small": ("integer", "bigint", "int"),
    "float": ("real", "double precision", "double"),
    "bool": ("numeric", "boolean", "tinyint(1)"),
    "text": ("text", "text", "longtext"),
    "name": ("text", "text", "varchar(191)"),
    "key": ("varchar(128)", "varchar(128)", "varchar(128)"),
    "key48": ("char(48)", "char(48)", "char(48)"),
    "time": ("datetime", "timestamptz", "datetime(3)"),
    "json": ("json", "json", "json"),
    "word": ("text", "varchar(191)", "varchar(191)"),
}

NEW_API = {
    "users": {
        "id": "id", "username": "name", "password": "text", "display_name": "name", "role": "int", "status": "int", "email": "name",
        "github_id": "name", "quota": "int", "used_quota": "int", "request_count": "int", "group": "name", "aff_code": "name",
        "aff_quota": "int", "inviter_id": "int", "deleted_at": "time", "setting": "text", "remark": "name", "created_at": "int",
    },
    "tokens": {
        "id": "id", "user_id": "int", "key": "key", "status": "int", "name": "name", "created_time": "int", "accessed_time": "int",
        "expired_time": "int", "remain_quota": "int", "unlimited_quota": "bool", "model_limits_enabled": "bool", "model_limits": "text",
        "allow_ips": "text", "used_quota": "int", "group": "name", "cross_group_retry": "bool", "auto_groups": "text", "deleted_at": "time",
    },
    "channels": {
        "id": "id", "type": "int", "key": "text", "open_ai_organization": "text", "test_model": "text", "status": "int", "name": "name",
        "weight": "int", "created_time": "int", "base_url": "name", "other": "text", "balance": "float", "models": "text", "group": "name",
        "used_quota": "int", "model_mapping": "text", "status_code_mapping": "text", "priority": "int", "auto_ban": "int", "tag": "name",
        "setting": "text", "param_override": "text", "header_override": "text", "remark": "name", "channel_info": "json", "settings": "text",
    },
    "options": {"key": "word", "value": "text"},
    "redemptions": {"id": "id", "user_id": "int", "key": "key48", "status": "int", "quota": "int"},
    "logs": {"id": "id", "user_id": "int", "content": "text"},
}

ONE_API = {
    "users": {
        "id": "id", "username": "name", "password": "text", "display_name": "name", "role": "int", "status": "int", "email": "name",
        "github_id": "name", "access_token": "key48", "quota": "int", "used_quota": "int", "request_count": "int", "group": "name",
        "aff_code": "name", "inviter_id": "int",
    },
    "tokens": {
        "id": "id", "user_id": "int", "key": "key48", "status": "int", "name": "name", "created_time": "int", "accessed_time": "int",
        "expired_time": "int", "remain_quota": "int", "unlimited_quota": "bool", "used_quota": "int", "models": "text", "subnet": "name",
    },
    "channels": {
        "id": "id", "type": "int", "key": "text", "status": "int", "name": "name", "weight": "int", "created_time": "int", "base_url": "name",
        "other": "text", "balance": "float", "models": "text", "group": "name", "used_quota": "int", "model_mapping": "text", "priority": "int",
        "config": "text", "system_prompt": "text",
    },
    "options": {"key": "word", "value": "text"},
    "redemptions": {"id": "id", "user_id": "int", "key": "key48", "status": "int", "quota": "int"},
    "logs": {"id": "id", "user_id": "int", "content": "text"},
}

DATABASES = ("sqlite", "postgres", "mysql")


def quoted(database, name):
    return f"`{name}`" if database == "mysql" else f'"{name}"'


def literal(database, value):
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value)) if database != "postgres" else str(value).upper()
    if isinstance(value, (int, float)):
        return str(value)
    text = value.replace("'", "''")
    return "'" + (text.replace("\\", "\\\\") if database == "mysql" else text) + "'"


def create(database, tables):
    place = DATABASES.index(database)
    for table, columns in tables.items():
        lines = [f"{quoted(database, name)} {KINDS[kind][place]}" for name, kind in columns.items()]
        yield f"CREATE TABLE {quoted(database, table)} ({', '.join(lines)});"
    yield f"CREATE UNIQUE INDEX idx_tokens_key ON {quoted(database, 'tokens')} ({quoted(database, 'key')});"


def insert(database, table, rows, at_once=500):
    for begin in range(0, len(rows), at_once):
        some = rows[begin : begin + at_once]
        columns = list(some[0])
        names = ", ".join(quoted(database, name) for name in columns)
        values = ",\n".join("(" + ", ".join(literal(database, row[name]) for name in columns) + ")" for row in some)
        yield f"INSERT INTO {quoted(database, table)} ({names}) VALUES\n{values};"
