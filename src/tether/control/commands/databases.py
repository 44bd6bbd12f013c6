"""Databases' command lines: the statements they are given decide. HOOK PATH."""
# ruff: noqa: E501 — patterns read best on one line

from __future__ import annotations

import re

from tether.control.commands import options
from tether.control.commands.shells import judge_unseen
from tether.control.expansion import ANY
from tether.source.pattern import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tether.control.commands.readers import Rules
    from tether.control.risk import Feed, Scan

DESTROYS = lazy(
    r"(?is)\b(?:drop\s+(?:table|database|schema|index|view|user|role|column|function|trigger|type|sequence|extension|keyspace"
    r"|materialized)|truncate\b|delete\s+from|alter\s+table\s+\S+\s+drop|vacuum\s+full|reset\s+master|purge\s+binary|shutdown\b"
    r"|revoke\b|detach\s+delete|pg_terminate_backend|update\s+\S+\s+set\s+(?!.*\bwhere\b))"
)
READS = lazy(
    r"(?is)\s*(?:select\b(?!.*\binto\b)|show\b|describe\b|desc\b|explain\b(?!\s+analyze)|pragma\s+\w+(?:\([^)]*\))?\s*$|with\b(?!.*\b(?:insert|update|delete)\b)"
    r"|\\d\S*|\\l\S*|\\c\S*|\\timing|\\x|\\conninfo|\\du|\\df|\\q|\.tables|\.schema|\.indexes|\.databases|\.dbinfo|\.headers|\.mode|\.quit"
    r"|\.width|values\b|use\b|status\b|ping\b)"
)
RUNS = lazy(
    r"(?is)\\!|(?:^|\n)\s*\.(?:shell|system|import|output|once|save|restore|load)\b|copy\b.*\bprogram\b|into\s+(?:out|dump)file|\bsystem\s+\S|load_file|pg_read_file|\\o\s|\\copy|load_extension|writefile|xp_cmdshell"
)

# name → (options with a value, options whose value is a statement, operands before a statement)
CLIENTS: dict[str, tuple[str, str, int]] = {
    "psql": (
        "-c -d -h -U -p -f -v -o -P -F -L -T --command --dbname --host --username --port --file --set --output",
        "-c|--command",
        99,
    ),
    "mysql": ("-e -h -u -P -D -S --execute --host --user --port --database --socket", "-e|--execute", 99),
    "sqlite3": ("-cmd -separator -init -nullvalue", "-cmd", 1),
    "clickhouse-client": ("-q -h -u -d --query --host --user --database --password --port", "-q|--query", 99),
    "duckdb": ("-c -s -init -cmd", "-c|-s|-cmd", 1),
    "cqlsh": ("-e -f -u -p -k --execute --file", "-e|--execute", 99),
    "sqlcmd": ("-Q -q -S -U -P -d -i -o", "-Q|-q", 99),
    "usql": ("-c -f", "-c", 99),
    "cockroach": ("-e --execute --host --url", "-e|--execute", 99),
    "snowsql": ("-q -f -a -u -d", "-q", 99),
}
SAME = {"mariadb": "mysql", "sqlite": "sqlite3", "pgcli": "psql", "litecli": "sqlite3"}


def judge_statement(scan: Scan, name: str, text: str) -> None:
    """One or more statements: all must read to be safe, any that destroys decides."""
    if DESTROYS.search(text):
        scan.note("D", "risk.sql.destroy", "a statement deletes data or the tables that hold it")
    if RUNS.search(text):
        scan.note("U", "risk.sql.run", "a statement runs a program or writes a file")
        for command in re.findall(r"(?:\\!|\.shell|\.system|\bsystem)\s+(.+)", text):
            scan.read_script(command.strip("'\" "))
    statements = [part for part in re.split(r";|\n(?=\s*[\\.])", text) if part.strip()]
    if statements and all(READS.match(part) for part in statements) and ANY not in text:
        scan.note("S", "risk.sql.read")
    else:
        scan.note("U", "risk.sql.change", f"`{name}` is given statements that may change data")


def judge_client(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    valued, code, before = CLIENTS[SAME.get(name, name)]
    single = name in ("sqlite3", "duckdb", "litecli", "sqlite")
    parsed = options.parse(args, valued, single=single)
    statements = parsed.values(code) + parsed.operands[before:]
    statements = [statement for statement in statements if statement]
    for statement in statements:
        judge_statement(scan, name, statement)
    if parsed.has("-o|--output|-L"):
        scan.write(*parsed.values("-o|--output|-L"))
    if parsed.has("-f|--file|-init|-i") and name not in ("mysql",):
        scan.note("U", "risk.sql.file", f"`{name}` runs statements from a file")
    elif parsed.has("-l|--list") and name == "psql":
        scan.note("S", "risk.sql.read")
    elif not statements and feed.text is not None and feed.origin == "static":
        judge_statement(scan, name, feed.text)
    elif not statements:
        if feed.origin:
            judge_unseen(scan, name, feed.origin)
        scan.note("U", "risk.sql.interactive", f"`{name}` is given statements that parsing does not see")


def judge_mongo(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    parsed = options.parse(args, "--eval -u -p --host --port --username --password --authenticationDatabase")
    text = " ".join(parsed.values("--eval")) or (feed.text or "")
    if re.search(
        r"(?i)\b(?:drop\w*|deleteMany|deleteOne|remove|findOneAndDelete|shutdownServer|dropDatabase|renameCollection)\s*\(",
        text,
    ):
        scan.note("D", "risk.mongo.destroy", "a statement deletes data")
    if (
        text
        and re.fullmatch(
            r"(?s)\s*(?:printjson\()?(?:db|rs|sh)(?:\.\w+)*\.(?:find|findOne|count\w*|stats|status|getCollectionNames|version|aggregate|distinct|explain|serverStatus|hello)\([^;]*\)[^;]*",
            text,
        )
        and not re.search(r"\$out|\$merge|\$where|\$function", text)
    ):
        scan.note("S", "risk.mongo.read")
    else:
        scan.note("U", "risk.mongo.change", f"`{name}` is given statements that may change data")


REDIS_READS = frozenset(
    "get mget keys scan info ping ttl pttl type exists hget hgetall hkeys hlen lrange llen"
    " smembers scard zrange zcard dbsize memory strlen time lastsave role command object echo"
    " monitor hmget hscan sscan zscan zscore randomkey".split()
)
REDIS_DESTROYS = frozenset(
    "flushall flushdb del unlink shutdown config debug hdel lrem srem zrem ltrim spop lpop rpop"
    " slaveof replicaof eval evalsha script migrate restore getdel xtrim xdel".split()
)


def judge_redis(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    parsed = options.parse(args, "-h -p -a -n -u -s --user --pass --pattern -i -r", stop=True)
    words = [word.lower() for word in parsed.operands] or (feed.text or "").lower().split()
    if not words:
        scan.note(
            "S" if parsed.has("--scan|--bigkeys|--stat|--latency") else "U",
            "risk.redis",
            "" if parsed.has("--scan|--bigkeys|--stat|--latency") else "opens a database",
        )
    elif words[0] in REDIS_READS or words[:2] == ["config", "get"]:
        scan.note("S", "risk.redis.read")
    elif words[0] in REDIS_DESTROYS or set(words) & {"flushall", "flushdb"}:
        scan.note("D", "risk.redis.destroy", "a statement deletes data or stops the server")
    else:
        scan.note("U", "risk.redis.change", "a statement may change data")


# fmt: off
TOOLS: dict[str, tuple[str, Rules]] = {
    "mysqladmin": ("-u -h -p", (("R", "read", "status|ping|version|processlist|variables|extended-status", ""), ("D", "drop", "drop|shutdown|kill|flush-logs|password", "drops a database or stops the server"))),
    "dropdb": ("-h -U -p", (("D", "drop", "", "drops a database"),)),
    "dropuser": ("-h -U -p", (("D", "drop", "", "drops a user"),)),
    "createdb": ("-h -U -p", (("U", "create", "", "makes a database"),)),
    "createuser": ("-h -U -p", (("U", "create", "", "makes a user"),)),
    "pg_dump": ("-h -U -p -f -F -d -t -n --file", (("S", "dump", "!-f|--file", ""), ("U", "file", "-f|--file", "writes a file"))),
    "mysqldump": ("-u -h -P -r", (("S", "dump", "!-r|--result-file|--tab", ""), ("U", "file", "-r|--result-file|--tab", "writes a file"))),
    "pg_restore": ("-h -U -p -d", (("R", "list", "-l|--list", ""), ("U", "restore", "!-c|--clean", "changes a database"), ("D", "clean", "-c|--clean", "drops what it restores"))),
    "pg_ctl": ("-D -l -o", (("R", "status", "status", ""), ("U", "start", "start|reload|restart|init|initdb", "starts a server"), ("D", "stop", "stop|kill|promote", "stops the server"))),
    "mongodump": ("", (("S", "dump", "", ""),)),
    "mongorestore": ("", (("U", "restore", "", "changes a database"), ("D", "drop", "--drop", "drops what it restores"))),
    "influx": ("", (("U", "run", "", "may change data"), ("D", "delete", "delete", "deletes data"), ("D", "delete", "bucket|org|user delete", "deletes data"))),
    "etcdctl": ("", (("S", "read", "get|member|endpoint|version|watch list|status|health", ""), ("S", "read", "get|version", ""), ("D", "delete", "del|defrag|compaction", "deletes data"))),
    "consul": ("", (("S", "read", "members|info|version|catalog|validate", ""), ("S", "read", "kv get|export", ""), ("D", "delete", "kv|acl|config delete", "deletes data"), ("D", "leave", "leave|force-leave", "stops the server"))),
    "vault": ("", (("S", "status", "status|version", ""), ("U", "read", "read|kv|list|login|token|write", "reads or writes secrets"), ("D", "delete", "delete", "deletes secrets"), ("D", "delete", "kv|secrets|auth|policy|token delete|destroy|disable|revoke", "deletes secrets"))),
}
# fmt: on
JUDGES = dict.fromkeys([*CLIENTS, *SAME], judge_client) | {
    "mongosh": judge_mongo,
    "mongo": judge_mongo,
    "redis-cli": judge_redis,
}
