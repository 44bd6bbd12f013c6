"""Which licence a package declares, and whether text under it may be learned from: permissive ones only."""

from __future__ import annotations

import json
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

# Order matters: the reciprocal names first, for `LGPL` in a text outweighs an `MIT` beside it.
NAMES: tuple[tuple[str, str], ...] = (
    ("AGPL", r"\bAGPL|Affero General Public"),
    ("LGPL", r"\bLGPL|Lesser General Public|Library General Public"),
    ("GPL", r"\bGPL|GNU General Public"),
    ("MPL", r"\bMPL\b|Mozilla Public"),
    ("EPL", r"\bEPL\b|Eclipse Public"),
    (
        "Apache-2.0",
        r"\bApache$|Apache[- ]?(?:License|Software License|2\.0|v?2)|apache\.org/licenses/LICENSE-2\.0",
    ),
    ("BSD", r"\bBSD\b|Redistribution and use in source and binary forms"),
    ("ISC", r"\bISC\b|Permission to use, copy, modify, and/or distribute this software"),
    ("BSL-1.0", r"Boost Software License|\bBSL-1|\bBSL$"),
    ("PSF", r"\bPSF\b|Python Software Foundation"),
    ("MIT", r"\bMIT\b|Expat|\bX11\b|Permission is hereby granted, free of charge"),
    ("Zlib", r"\bzlib\b|This software is provided 'as-is'"),
    ("Unlicense", r"Unlicense|public domain|\bCC0\b|\b0BSD\b|\bWTFPL\b"),
    ("Ruby", r"\bRuby licen[sc]e|Ruby's"),
)
RECIPROCAL = frozenset({"AGPL", "LGPL", "GPL", "MPL", "EPL"})
_LICENCE_FILE = re.compile(r"(?:^|/)(?:LICEN[SC]E|COPYING|COPYRIGHT|MIT-LICENSE|UNLICENSE)[^/]*$", re.I)
# Artifacts whose sources jar carries no licence text; the licence each project publishes.
PUBLISHED = {
    "org.jetbrains": "Apache-2.0", "com.squareup": "Apache-2.0", "io.arrow-kt": "Apache-2.0",
    "io.insert-koin": "Apache-2.0", "io.kotest": "Apache-2.0", "com.github.ajalt": "Apache-2.0",
    "org.http4k": "Apache-2.0", "io.javalin": "Apache-2.0", "com.apollographql": "MIT",
    "com.expediagroup": "Apache-2.0", "io.mockk": "Apache-2.0", "com.pinterest": "MIT",
    "io.gitlab.arturbosch": "Apache-2.0", "dev.zio": "Apache-2.0", "org.apache": "Apache-2.0",
    "org.scalaz": "BSD", "com.typesafe.slick": "BSD", "org.playframework": "Apache-2.0",
    "org.specs2": "MIT", "com.lihaoyi": "MIT", "org.json4s": "Apache-2.0", "com.twitter": "Apache-2.0",
    "org.scalanlp": "Apache-2.0", "org.typelevel": "MIT", "com.softwaremill": "Apache-2.0",
    "io.monix": "Apache-2.0", "org.scalatest": "Apache-2.0", "io.scalaland": "Apache-2.0",
    "io.netty": "Apache-2.0", "io.projectreactor": "Apache-2.0", "io.reactivex": "Apache-2.0",
    "com.github.ben-manes": "Apache-2.0", "org.assertj": "Apache-2.0", "org.springframework": "Apache-2.0",
    "org.mybatis": "Apache-2.0", "org.jooq": "Apache-2.0", "com.zaxxer": "Apache-2.0",
    "org.quartz-scheduler": "Apache-2.0", "info.picocli": "Apache-2.0", "org.jsoup": "MIT",
    "io.lettuce": "MIT", "redis.clients": "MIT", "io.github.resilience4j": "Apache-2.0",
    "io.micrometer": "Apache-2.0", "io.dropwizard": "Apache-2.0", "io.undertow": "Apache-2.0",
    "io.grpc": "Apache-2.0",
}  # fmt: skip

Reader = Callable[[], bytes]


@contextmanager
def open_archive(path: Path) -> Iterator[Iterator[tuple[str, int, Reader]]]:
    """The regular files of a zip or tar: name, size, and how to read each."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as file:
            yield (
                (info.filename, info.file_size, lambda i=info: file.read(i))  # type: ignore[misc]
                for info in file.infolist()
                if not info.is_dir()
            )
    else:
        with tarfile.open(path) as tar:

            def entries() -> Iterator[tuple[str, int, Reader]]:
                for member in tar:
                    if member.isfile():
                        yield member.name, member.size, lambda m=member: tar.extractfile(m).read()  # type: ignore[misc,union-attr]

            yield entries()


def name_licences(text: str) -> list[str]:
    """The licences a text names, reciprocal ones first."""
    return [name for name, pattern in NAMES if re.search(pattern, text)]


def judge(archive: Path, registry: str, name: str) -> tuple[str, bool]:
    """The licence as declared, and whether it is permissive; unknown is not."""
    declared = _declared(archive, registry, name)
    named = name_licences(declared)
    if not named:
        return (declared or "unknown")[:60], False
    # `A or B`: the permissive one may be chosen
    choice = len(declared) < 200 and bool(re.search(r"\bOR\b|/", declared))
    dual = choice and any(n not in RECIPROCAL for n in named)
    return " / ".join(named[:3]), dual or not RECIPROCAL & set(named)


def _declared(archive: Path, registry: str, name: str) -> str:
    if registry == "debian" and (known := _copyright(archive.parent)):
        return known
    if registry == "deb":
        with open_archive(archive) as files:
            for path, _, read in files:
                if path.endswith("/copyright"):
                    return _of_most(read().decode("utf-8", "replace"))
        return ""
    if registry == "maven":
        return next((licence for group, licence in PUBLISHED.items() if name.startswith(group)), "")
    texts: list[str] = []
    with open_archive(archive) as files:
        for path, size, read in files:
            depth = path.count("/")
            if registry == "pypi" and re.search(r"\.dist-info/METADATA$", path):
                head = read().decode("utf-8", "replace").split("\n\n")[0]
                lines = re.findall(r"(?m)^(?:License(?:-Expression)?|Classifier: License ::).*$", head)
                if name_licences("\n".join(lines)):
                    return "\n".join(lines)
            elif registry == "npm" and path == "package/package.json":
                licence = json.loads(read()).get("license", "")
                if licence:
                    return licence if isinstance(licence, str) else str(licence.get("type", ""))
            elif registry == "crates" and depth == 1 and path.endswith("/Cargo.toml"):
                line = re.search(r'(?m)^license = "([^"]+)"', read().decode("utf-8", "replace"))
                if line:
                    return line[1]
            elif _LICENCE_FILE.search(path) and depth <= 6 and size < 100_000:
                texts.append((depth, read().decode("utf-8", "replace")[:1500]))  # type: ignore[arg-type]
    return min(texts)[1] if texts else ""


def _copyright(folder: Path) -> str:
    """The licence of most of a source package: what its copyright file gives for `Files: *`."""
    for overlay in folder.glob("*.debian.tar.*"):
        with open_archive(overlay) as files:
            for path, _, read in files:
                if path == "debian/copyright":
                    return _of_most(read().decode("utf-8", "replace"))
    return ""


def _of_most(text: str) -> str:
    whole = re.search(r"(?m)^Files:\s*\*(?:.|\n)*?^License:\s*(\S.*)$", text)
    return whole[1] if whole else text[:3000]
