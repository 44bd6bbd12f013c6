"""Where the secrets of a text stand: by shape, by place, or by the name they are given to. HOOK PATH."""

from __future__ import annotations

import re
from functools import cache

from tether.source import secrets as data
from tether.source.likely import entropy, is_placeholder, is_wordy, looks_secret, name_strength

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Claim = tuple[int, int, str]  # start, end, rule

MAX_KEY_BLOCK = 32_768


def detect(text: str) -> Iterator[Claim]:
    """Every claim of every rule, the more specific rules first; claims may overlap."""
    lowered = text.lower()
    if len(lowered) != len(text):
        # One letter grows in lower case; places must stay those of the text.
        lowered = text.replace("\u0130", "\u0131").lower()
    present = _present(lowered)
    if present is not None and not present:
        return
    runs = _long_runs(text) if present is None else ""
    seen = lowered if present is None else present
    if "private key" in seen:
        yield from _key_blocks(text)
    yield from _prefixed(text, runs, present)
    yield from _floating(text, lowered, runs, present)
    if "://" in seen:
        yield from _urls(text)
    if "kind:" in seen or '"kind"' in seen:
        yield from _kubernetes(text, lowered)
    if "cookie" in seen:
        yield from _cookies(text, lowered)
    yield from _named(text, lowered, present)


# ── what is worth looking for ────────────────────────────────────────────────

MUCH_TEXT = 65_536
_scanned = 0


def _present(lowered: str) -> frozenset[str] | None:
    """Which of the rules' literals occur, found in one pass; None while asking one by one is as good.

    A hook sees little text and should not pay for loading the automaton; a pack or an index sees a lot.
    INVARIANT: both ways lead to the same findings, so it does not matter when the one takes over.
    """
    global _scanned
    _scanned += len(lowered)
    if _scanned < MUCH_TEXT:
        return None
    literals, automaton = _automaton()
    if automaton is None:
        return None
    try:
        matches = automaton.find_matches_as_indexes(lowered, overlapping=True)
    except UnicodeEncodeError:
        return None  # a lone surrogate, which no automaton of bytes can read
    return frozenset(literals[index] for index in {match[0] for match in matches})


@cache
def _automaton() -> tuple[tuple[str, ...], Any]:
    try:
        from ahocorasick_rs import AhoCorasick, Implementation
    except ImportError:
        return (), None  # a browser has no compiled wheels: the literals are asked for one by one

    literals = {low for _, low, _, _ in _prefixes()}
    literals.update(literal for row in _floaters() for literal in row[2])
    literals.update(data.NAME_LITERALS, ("://", "kind:", '"kind"', "cookie", "private key"))
    ordered = tuple(sorted(literals))
    return ordered, AhoCorasick(ordered, implementation=Implementation.DFA)


def _long_runs(text: str) -> str:
    """The parts of a text where a token could stand: long, unbroken, not words. Most text has few."""
    words = [word for word in text.split() if len(word) >= 20]
    return "\n".join(run for run in _compiled(_RUN).findall("\n".join(words)) if _is_random(run))


def _is_random(run: str) -> bool:
    return _compiled(r"[0-9]|[A-Z]{2}[a-z]|[a-z]{2}[A-Z]{2}").search(run) is not None


_RUN = r"[A-Za-z0-9_$.,:/%=+~@-]{20,}"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _places(text: str, literal: str) -> Iterator[int]:
    at = text.find(literal)
    while at != -1:
        yield at
        at = text.find(literal, at + len(literal))


# ── by shape ─────────────────────────────────────────────────────────────────

_BEGIN = (
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"|---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----"
)


def _key_blocks(text: str) -> Iterator[Claim]:
    """Private keys whole, from their first dash to their last, on one line or many."""
    for begin in _compiled(_BEGIN).finditer(text):
        if _placeholder_key(text, begin.end()):
            continue
        stop = text.find("PRIVATE KEY", begin.end(), begin.end() + MAX_KEY_BLOCK)
        if stop != -1 and text.rfind("END", begin.end(), stop) != -1:
            dashes = _compiled(r"PRIVATE KEY(?: BLOCK)?-{4,5}").match(text, stop)
            end = dashes.end() if dashes else stop
        else:
            # A key cut short is still a key: as far as its alphabet goes.
            body = _compiled(r"(?:[A-Za-z0-9+/=]{16,}|\\[nr]|[\s\"'])*+").match(text, begin.end())
            end = body.end() if body else begin.end()
            end -= len(text[begin.end() : end]) - len(text[begin.end() : end].rstrip())
            if end - begin.end() < 16:
                continue
        yield begin.start(), end, "private-key"


def _placeholder_key(text: str, at: int) -> bool:
    """Whether nothing key-like follows: documentation shows the header with dots or a name in between."""
    body = re.sub(r"\\[nrt]|\s", "", text[at : at + 400])
    run = _compiled(r"[A-Za-z0-9+/=:,.-]{0,400}").match(body)
    return run is None or len(run.group().split("-----")[0].strip(".")) < 24 or "..." in run.group()[:24]


def _prefixed(text: str, runs: str, present: frozenset[str] | None) -> Iterator[Claim]:
    for prefix, low, rule, tail in _prefixes() if runs or present else ():
        if (prefix not in runs) if present is None else (low not in present):
            continue
        for at in _places(text, prefix):
            if at and text[at - 1].isalnum() and prefix[0].isalnum() and not _after_escape(text, at):
                continue
            match = _compiled(tail).match(text, at + len(prefix))
            if match is None or not _ends(text, match.end()):
                continue
            if _is_random(match.group()) and not _stands_in(match.group()):
                yield at, match.end(), rule


@cache
def _prefixes() -> tuple[tuple[str, str, str, str], ...]:
    return tuple(
        (prefix, prefix.lower(), rule, tail)
        for rule, prefixes, tail in data.PREFIXED
        for prefix in prefixes.split(" ")
    )


def _after_escape(text: str, at: int) -> bool:
    r"""Whether the letter before is the end of an escape such as `\n` in a quoted string, or of `%3D`."""
    return text[at - 2 : at - 1] == "\\" or (at > 2 and text[at - 3] == "%")


def _ends(text: str, at: int) -> bool:
    return at >= len(text) or not (text[at].isalnum() or text[at] == "_")


def _stands_in(value: str) -> bool:
    """Whether a shaped token is a made-up one: one character over and over, words, or a documented sample."""
    lowered = value.lower()
    if any(part in lowered for part in data.MADE_UP):
        return True
    return len(set(lowered)) < 6 or (not any(char.isdigit() for char in value) and is_wordy(value))


def _floating(text: str, lowered: str, runs: str, present: frozenset[str] | None) -> Iterator[Claim]:
    low_runs = runs.lower()
    flagged = present is not None or _compiled(data.FLAGS).search(lowered) is not None
    for rule, gate, literals, back, ahead, pattern in _floaters():
        if present is None and ((gate == "flag" and not flagged) or (gate in ("run", "near") and not runs)):
            continue
        where = present if present is not None else low_runs if gate == "run" else lowered
        for literal in literals:
            if literal in where:
                shaped = gate in ("run", "near")
                yield from _around(text, lowered, rule, literal, back, ahead, pattern, shaped)


def _around(
    text: str, lowered: str, rule: str, literal: str, back: int, ahead: int, pattern: str, shaped: bool
) -> Iterator[Claim]:
    regex = _compiled(pattern)
    for at in _places(lowered, literal):
        if ahead:
            matches = regex.finditer(text, max(0, at - back), at + len(literal) + ahead)
        else:
            only = regex.match(text, at)
            if only is None:
                continue
            matches = iter((only,))
        for match in matches:
            start, end = match.span("s")
            value = text[start:end]
            if rule in _PEOPLE_CHOOSE:
                if is_placeholder(value) or len(value) < 4:
                    continue
            elif rule == "bearer-token":
                if is_placeholder(value) or is_wordy(value) or not any(c.isdigit() for c in value):
                    continue
            elif rule == "authorization-header":
                if is_placeholder(value) or (is_wordy(value) and not value.endswith("=")):
                    continue
            elif rule == "docker-auth":
                if not _is_user_and_password(value):
                    continue
            elif shaped and (not _is_random(value) or _stands_in(value)):
                continue
            yield start, end, rule


@cache
def _floaters() -> tuple[tuple[str, str, tuple[str, ...], int, int, str], ...]:
    # INVARIANT: no pattern reaches across what an earlier pass found, so findings never overlap.
    return tuple(
        (
            rule,
            gate,
            tuple(literals.split("|")),
            back,
            ahead,
            pattern.replace(r"\S", r"[^\s]").replace("[^", r"[^\x00"),
        )
        for rule, gate, literals, back, ahead, pattern in data.FLOATING
    )


_PEOPLE_CHOOSE = frozenset(
    "netrc-password pgpass-password mysql-password curl-user cli-password sql-password".split()
)


def _is_user_and_password(value: str) -> bool:
    from binascii import Error, a2b_base64

    try:
        return b":" in a2b_base64(value)
    except Error:
        return False


# ── by place ─────────────────────────────────────────────────────────────────

_AUTHORITY = (
    r"(?P<user>[^\s/?#\"'<>@:\\\x00`,;]{0,200})"
    r"(?::(?P<s>[^\s/\"'<>@\\\x00`]{1,300}))?@(?=[A-Za-z0-9\[_$%{<*.-])"
)
_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]{0,30}\Z"


def _urls(text: str) -> Iterator[Claim]:
    """Passwords, and tokens alone, before the `@` of an address."""
    for at in _places(text, "://"):
        if _compiled(_SCHEME).search(text, max(0, at - 31), at) is None:
            continue
        match = _compiled(_AUTHORITY).match(text, at + 3)
        if match is None:
            continue
        user, password = match["user"], match["s"]
        if password is not None:
            if not _is_template(password):
                yield *match.span("s"), "url-password"
            if password in ("x-oauth-basic", "") and looks_secret(user, "secret", True):
                yield *match.span("user"), "url-token"
        elif len(user) >= 20 and not _is_public_dsn(text, match.end()) and looks_secret(user, "secret", True):
            yield *match.span("user"), "url-token"


def _is_template(value: str) -> bool:
    if len(set(value)) <= 1 or value.endswith(("}", ")", "]")) or value == "x-oauth-basic":
        return True
    if value[0] in "{<[*" or (value[0] in "$%" and not value[1:2].isdigit()):
        return True
    return any(mark in value.lower() for mark in ("${", "{{", "xxxx", "***"))


def _is_public_dsn(text: str, at: int) -> bool:
    """A Sentry address without a password names a project; its key is made to be published."""
    return "sentry" in text[at : at + 80].lower()


_KIND = r"kind:[ \t]{1,4}[\"']?secret[\"']?[ \t]{0,8}(?=\r?\n|\Z)"
_KIND_JSON = r"\"kind\"[ \t]{0,4}:[ \t]{0,4}\"secret\""
_DATA_JSON = r"\"(?:data|stringData)\"\s{0,8}:\s{0,8}\{([^{}]{0,20000})\}"
_PAIR_JSON = r":\s{0,8}\"(?P<s>[^\"\n\x00]{4,10000})\""
_PAIR_YAML = (
    r"[A-Za-z0-9_.\"'-]{1,253}:[ \t]{1,8}[\"']?(?P<s>[^\s\"'\x00][^\n\"'\x00]{3,10000}?)[\"']?[ \t]{0,8}\r?\Z"
)


def _kubernetes(text: str, lowered: str) -> Iterator[Claim]:
    """The values of a Kubernetes Secret, whatever they are named."""
    done = 0
    for kind in _compiled(_KIND).finditer(lowered):
        if kind.start() < done:
            continue
        start = max(lowered.rfind("\n---", done, kind.start()), kind.start() - 20_000, done)
        done = lowered.find("\n---", kind.end(), kind.end() + 100_000)
        done = done if done != -1 else min(len(text), kind.end() + 100_000)
        yield from _secret_data(text, start, done)
    done = 0
    for kind in _compiled(_KIND_JSON).finditer(lowered):
        start, done = max(done, kind.start() - 20_000), min(len(text), kind.end() + 20_000)
        for block in _compiled(_DATA_JSON).finditer(text, start, done):
            for pair in _compiled(_PAIR_JSON).finditer(text, *block.span(1)):
                if not is_placeholder(pair["s"]):
                    yield *pair.span("s"), "kubernetes-secret"


def _secret_data(text: str, start: int, stop: int) -> Iterator[Claim]:
    """Values of the block under `data:` or `stringData:`, by indentation."""
    depth = -1
    at = start
    while at < stop:
        end = text.find("\n", at, stop)
        end = end if end != -1 else stop
        line = text[at:end]
        body = line.strip()
        indent = len(line) - len(line.lstrip())
        if depth >= 0 and body and indent <= depth:
            depth = -1
        if depth >= 0 and body and not body.startswith("#"):
            pair = _compiled(_PAIR_YAML).match(body)
            if pair and not is_placeholder(pair["s"]) and pair["s"][0] not in "|>":
                offset = at + indent
                yield offset + pair.start("s"), offset + pair.end("s"), "kubernetes-secret"
        elif body in ("data:", "stringData:"):
            depth = indent
        at = end + 1


_COOKIE = r"(?:set-)?cookie[\"']?[ \t]{0,4}[:=,][ \t]{0,4}[\"']?"
_ATTRIBUTES = (
    r";[ \t]{0,4}(?:(?:Path|Domain|Expires|Max-Age|SameSite|Secure|HttpOnly|Partitioned)"
    r"(?:=[^;\n\"']{0,80})?;?[ \t]{0,4}){0,8}"
)
_CRUMB = r"(?P<name>[A-Za-z0-9_.$-]{1,80})=(?P<s>[^\s;,\"'\x00\\]{1,4000})"


def _cookies(text: str, lowered: str) -> Iterator[Claim]:
    """Session values in cookie headers."""
    for header in _compiled(_COOKIE).finditer(lowered):
        at = header.end()
        while True:
            crumb = _compiled(_CRUMB).match(text, at)
            if crumb is None:
                break
            value = crumb["s"]
            if (
                len(value) >= 16
                and not is_placeholder(value)
                and not is_wordy(value)
                and entropy(value) >= 3.0
            ):
                yield *crumb.span("s"), "cookie"
            more = _compiled(_ATTRIBUTES).match(text, crumb.end())
            if more is None:
                break
            at = more.end()


# ── by name ──────────────────────────────────────────────────────────────────

_BEFORE_NAME = r"(?s:.{0,95})[^A-Za-z0-9_.-]"  # greedy: up to the last character that is no name's
_NAME_AFTER = r"[A-Za-z0-9_.-]{0,64}"
# What stands between a name and its value, in the languages people keep secrets in.
_LINK = (
    r"(?:"
    # name: NAME, then value: … on the next line or in the same object
    r"[\"']?,?[ \t]{0,4}(?:\r?\n[ \t]{0,40})?[\"']?value[\"']?[ \t]{0,4}:[ \t]{0,8}(?=[^\s])"
    r"|"
    # `"name"]`, then perhaps `: str`, then the operator
    r"\\?[\"'`]?\]?(?:[ \t]{1,4}(?:string|String|\[\]byte)(?=[ \t]))?[ \t]{0,40}"
    r"(?::[ \t]{0,4}(?:&(?:'[a-z]{1,12}[ \t])?)?[A-Za-z_][A-Za-z0-9_.<>\[\]|? ]{0,40}?[ \t]{0,4}(?==[^=]))?"
    r"(?:===?|!==?|:=|\?\?=|\|\|=|\?=|\+=|=>|->|<-|=|:)[ \t]{0,40}(?:\r?\n[ \t]{1,40})?"
    # ("name", "…")
    r"|\\?[\"'`]?[ \t]{0,4},[ \t]{0,8}"
    # setPassword("…")
    r"|[ \t]{0,4}\([ \t]{0,8}"
    # <password type="plain">…
    r"|(?:[ \t]{1,8}[A-Za-z_:-]{1,30}=\"[^\"\n]{0,60}\"){0,3}[ \t]{0,4}>"
    # name="password" value="…"
    r"|\"[ \t]{1,8}(?i:value)[ \t]{0,4}=[ \t]{0,4}(?=[\"'])"
    # (setq name "…")
    r"|[ \t]{1,4}(?=[\"'][^\"'\s=]{8,200}[\"'][ \t]{0,4}\))"
    # ENV NAME value
    r"|[ \t]{1,4}(?=[^\s=:,;()<>{}\[\]|&\"'-]{8,200}[ \t]{0,8}(?:\r?\n|\Z))"
    r")"
)
_QUOTE = r"[rbfuRBFU@$]{0,2}(?P<q>\\?(?:\"\"\"|'''|[\"'`]))"
_BARE = r"[^\s\"'`,;<>\x00]{6,256}"
_BARE_REST = r"[^\s\"'`,;<>\x00]{0,8000}"
# process.env.KEY || "…", os.getenv("KEY", "…")
_DEFAULT = (
    r"[A-Za-z_$][A-Za-z0-9_.]{0,80}"
    r"(?:\([\"'][A-Za-z0-9_.-]{1,60}[\"'],[ \t]{0,4}|[ \t]{0,4}(?:\|\||\?\?|or)[ \t]{1,4})(?=[\"'`])"
)
_SCHEME_WORD = r"(?i:bearer|basic|token|bot)[ ]{1,2}"
_EXPRESSION = r"[A-Za-z_][A-Za-z0-9_]*(?:(?:\.|::|->|\?\.)[A-Za-z_][A-Za-z0-9_]*)*\Z"


def _named(text: str, lowered: str, present: frozenset[str] | None) -> Iterator[Claim]:
    """Values of names that name secrets, in assignments, mappings, calls, markup and flags."""
    after, before = _compiled(_NAME_AFTER), _compiled(_BEFORE_NAME)
    seen: set[int] = set()
    for literal in data.NAME_LITERALS:
        at = lowered.find(literal) if present is None or literal in present else -1
        while at != -1:
            tail = after.match(text, at + len(literal))
            assert tail is not None
            end = tail.end()
            while text[end - 1] in ".-" and end > at + 1:
                end -= 1
            if end not in seen:
                seen.add(end)
                floor = max(0, at - 96)
                head = before.match(text, floor, at)
                start = head.end() if head is not None else floor
                strength = name_strength(text[start:end])
                if strength:
                    yield from _value_of(text, start, end, strength)
            at = lowered.find(literal, max(end, at + len(literal)))


def _value_of(text: str, start: int, end: int, strength: str) -> Iterator[Claim]:
    link = _compiled(_LINK).match(text, end)
    if link is not None:
        at, how = link.end(), link.group().strip()[-1:]
    elif text.startswith("--", start):
        gap = _compiled(r"[ \t]{1,4}(?!-)").match(text, end)
        if gap is None:
            return
        at, how = gap.end(), " "
    else:
        return
    if how == ":" and text[start - 1 : start] == ":":
        return  # a part of a resource name such as an ARN
    default = _compiled(_DEFAULT).match(text, at)
    if default is not None:
        at = default.end()
    opening = _compiled(_QUOTE).match(text, at)
    if opening is not None:
        first = opening.end()
        last = _closing(text, first, opening["q"])
        if last <= first:
            return
        value = text[first:last]
    elif how in ("(", ","):
        return  # an argument that is an expression
    else:
        bare = _compiled(_BARE).match(text, at)
        if bare is None:
            return
        value = _trim(bare.group(), text[start - 1 : start] if start else "")
        first, last = at, at + len(value)
        if len(value) < 6 or not _is_literal(value):
            return
    scheme = _compiled(_SCHEME_WORD).match(value)
    if scheme is not None:
        first, value = first + scheme.end(), value[scheme.end() :]
    if looks_secret(value, strength, opening is not None):
        if opening is None and len(value) == 256:
            rest = _compiled(_BARE_REST).match(text, last)
            last = rest.end() if rest is not None else last
        yield first, last, "password" if strength == "password" else "secret"


def _closing(text: str, start: int, quote: str) -> int:
    """Where the quoted value that starts at `start` ends; -1 when it is too long or crosses a line."""
    at = text.find(quote, start, start + 4096)
    while at > start and text[at - 1] == "\\" and quote[0] != "\\":
        at = text.find(quote, at + 1, start + 4096)
    return -1 if at != -1 and ("\n" in text[start:at] or "\x00" in text[start:at]) else at


def _trim(value: str, before: str) -> str:
    """An unquoted value without what belongs to the text around it."""
    if before in ("&", "?", ";"):
        value = value.split("&", 1)[0]
    value = value.removesuffix("\\n").removesuffix("\\")
    while value and (value[-1] in ".]}" or (value[-1] == ")" and "(" not in value)):
        value = value[:-1]
    return value


def _is_literal(value: str) -> bool:
    """Whether an unquoted value is data and not an expression of some language."""
    if any(mark in value for mark in "(){}[]|") or value[0] in "$@&*%:!-<.=+/\\":
        return False
    if _compiled(_EXPRESSION).match(value) is None:
        return True
    if "." in value or "::" in value:
        return len(value) >= 20 and not is_wordy(value)
    return any(char.isdigit() for char in value) or not is_wordy(value)
