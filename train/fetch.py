"""Packages from the registries, through each ecosystem's own client, pinned and with their licences on record."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.sax.saxutils import escape

from train.licences import judge

HERE = Path(__file__).parent
MANIFEST = HERE / "manifest.json"

Found = tuple[str, str, Path]  # name, version, archive


def read_words(path: Path) -> dict[str, list[str]]:
    """The word lists of a table file."""
    return {key: value.split() for key, value in tomllib.loads(path.read_text()).items()}


def barred() -> frozenset[str]:
    """Every name that must not be trained on."""
    lists = read_words(HERE / "exclusions.toml")
    return frozenset(word.lower() for words in lists.values() for word in words)


def fetch_all(cache: Path) -> list[dict[str, str]]:
    """Download what packages.toml names into `cache`, at the manifest's versions where it has them."""
    wanted = read_words(HERE / "packages.toml")
    pins = {(row["registry"], row["name"]): row for row in read_manifest()}
    bar = barred()
    rows: list[dict[str, str]] = []
    for registry, names in wanted.items():
        allowed = [name for name in names if name.lower() not in bar]
        versions = {n: pins[registry, n]["version"] for n in allowed if (registry, n) in pins}
        target = cache / "archives" / registry
        target.mkdir(parents=True, exist_ok=True)
        found = sorted(CLIENTS[registry](target, allowed, versions))
        for name, version, archive in found:
            digest = hashlib.sha256(archive.read_bytes()).hexdigest()
            pin = pins.get((registry, name))
            if pin and pin["version"] == version and pin["sha256"] != digest:
                raise SystemExit(f"`{registry} {name} {version}` is not the file the manifest names")
            licence, permissive = judge(archive, registry, name)
            rows.append(
                {
                    "registry": registry,
                    "name": name,
                    "version": version,
                    "licence": licence,
                    "used": "yes" if permissive else "no",
                    "sha256": digest,
                    "archive": str(archive.relative_to(cache)),
                }
            )
        missing = sorted(set(names) - {name for name, _, _ in found})
        print(f"{registry}: {len(found)} of {len(names)}; missing: {' '.join(missing) or 'none'}", flush=True)
    return sorted(rows, key=lambda row: (row["registry"], row["name"]))


def read_manifest() -> list[dict[str, str]]:
    """The packages of the last run, or none."""
    return json.loads(MANIFEST.read_text())["packages"] if MANIFEST.exists() else []


def _run(argv: list[str], cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        argv, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, timeout=1200
    )
    if done.returncode:
        print(f"{' '.join(argv)[:120]}: {done.stderr.strip()[-300:]}", file=sys.stderr)
    return done.stdout


def _each(fetch: Callable[[str], Found | None], names: list[str]) -> Iterator[Found]:
    with ThreadPoolExecutor(2) as pool:
        yield from (found for found in pool.map(fetch, names) if found)


def _pypi(target: Path, names: list[str], versions: dict[str, str]) -> Iterator[Found]:
    """Wheels: source without running anyone's build."""

    def fetch(name: str) -> Found | None:
        folder = target / name
        if not folder.exists():
            what = f"{name}=={versions[name]}" if name in versions else name
            _run(
                [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:",
                 "-d", str(folder), what],
                target,
            )  # fmt: skip
        for wheel in folder.glob("*.whl"):
            return name, wheel.name.split("-")[1], wheel
        return None

    return _each(fetch, names)


def _npm(target: Path, names: list[str], versions: dict[str, str]) -> Iterator[Found]:
    def fetch(name: str) -> Found | None:
        folder = target / name.replace("/", "+")
        if not folder.exists():
            folder.mkdir()
            what = f"{name}@{versions[name]}" if name in versions else name
            _run(["npm", "pack", "--silent", "--pack-destination", str(folder), what], target)
        for archive in folder.glob("*.tgz"):
            version = re.sub(r"^.*?-(\d+\.\d.*)\.tgz$", r"\1", archive.name)
            return name, version, archive
        return None

    return _each(fetch, names)


def _crates(target: Path, names: list[str], versions: dict[str, str]) -> Iterator[Found]:
    home = target / "cargo"
    project = target / "project"
    # one project per crate: together, their native-library links would exclude each other
    for name in names:
        here = project / name
        if here.exists():
            continue
        (here / "src").mkdir(parents=True)
        (here / "src" / "lib.rs").write_text("")
        version = f"={versions[name]}" if name in versions else "*"
        (here / "Cargo.toml").write_text(
            '[package]\nname = "gather"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n'
            f'{name} = {{ version = "{version}", default-features = false }}\n'
        )
        _run(
            ["cargo", "fetch", "-q", "--target", "x86_64-unknown-linux-gnu"],
            here,
            CARGO_HOME=str(home),
            CARGO_NET_RETRY="3",
        )
    for name in names:
        lock = project / name / "Cargo.lock"
        if not lock.exists():
            continue
        entry = re.search(rf'name = "{re.escape(name)}"\nversion = "([^"]+)"\nsource = ', lock.read_text())
        if entry:
            for archive in home.glob(f"registry/cache/*/{name}-{entry[1]}.crate"):
                yield name, entry[1], archive
                break


def _go(target: Path, names: list[str], versions: dict[str, str]) -> Iterator[Found]:
    def fetch(name: str) -> Found | None:
        what = f"{name}@{versions.get(name, 'latest')}"
        out = _run(
            ["go", "mod", "download", "-json", what],
            target,
            GOMODCACHE=str(target / "mod"),
            GOFLAGS="-modcacherw",
            GOSUMDB="off",
        )
        try:
            row = json.loads(out)
        except ValueError:
            return None
        return (name, row["Version"], Path(row["Zip"])) if row.get("Zip") else None

    return _each(fetch, names)


def _maven(target: Path, names: list[str], versions: dict[str, str]) -> Iterator[Found]:
    """The `-sources` jars: one generated module for each artifact, all in one run, failures passed by."""
    head = "<project><modelVersion>4.0.0</modelVersion><groupId>gather</groupId>"
    lacking = []
    for name in names:
        group, artifact = name.split(":")
        folder = target / artifact
        if list(folder.glob("*-sources.jar")):
            continue
        folder.mkdir(exist_ok=True)
        lacking.append(artifact)
        (folder / "pom.xml").write_text(
            f"{head}<artifactId>{escape(artifact)}</artifactId><version>0</version><packaging>pom</packaging>"
            f"<dependencies><dependency><groupId>{escape(group)}</groupId>"
            f"<artifactId>{escape(artifact)}</artifactId>"
            f"<version>{escape(versions.get(name, 'RELEASE'))}</version><classifier>sources</classifier>"
            "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
            "</dependency></dependencies></project>"
        )
    if lacking:
        modules = "".join(f"<module>{escape(artifact)}</module>" for artifact in lacking)
        (target / "pom.xml").write_text(
            f"{head}<artifactId>all</artifactId><version>0</version><packaging>pom</packaging>"
            f"<modules>{modules}</modules></project>"
        )
        _run(
            ["mvn", "-q", "-B", "-fae", f"-Dmaven.repo.local={target / 'repository'}",
             "dependency:copy-dependencies", "-DoutputDirectory=.", "-DexcludeTransitive=true"],
            target,
        )  # fmt: skip
    for name in names:
        artifact = name.split(":")[1]
        for jar in (target / artifact).glob("*-sources.jar"):
            yield name, jar.name[len(artifact) + 1 : -len("-sources.jar")], jar
            break


def _apt(target: Path, types: str) -> list[str]:
    """Options that make apt keep to a private copy of this machine's package lists."""
    state = target / "apt"
    for part in ("lists/partial", "cache/archives/partial", "etc/sources.list.d"):
        (state / part).mkdir(parents=True, exist_ok=True)
    for source in Path("/etc/apt/sources.list.d").glob("debian*.sources"):
        text = re.sub(r"(?m)^Types:.*$", f"Types: {types}", source.read_text())
        (state / "etc/sources.list.d" / source.name).write_text(text)
    options = [
        "-q", "-o", f"Dir::State={state}", "-o", f"Dir::State::lists={state / 'lists'}",
        "-o", f"Dir::Cache={state / 'cache'}", "-o", f"Dir::Etc::sourceparts={state / 'etc/sources.list.d'}",
        "-o", "Dir::Etc::sourcelist=/dev/null", "-o", "APT::Sandbox::User=root",
    ]  # fmt: skip
    if not list((state / "lists").glob("*_*")):
        _run(["apt-get", *options, "update"], target)
    return options


def _debian(target: Path, names: list[str], versions: dict[str, str]) -> Iterator[Found]:
    """Upstream tarballs of source packages."""
    options = _apt(target, "deb-src")

    def fetch(name: str) -> Found | None:
        folder = target / name
        if not folder.exists():
            folder.mkdir()
            what = f"{name}={versions[name]}" if name in versions else name
            _run(["apt-get", *options, "source", "--download-only", what], folder)
        description = next(folder.glob("*.dsc"), None)
        archive = next((p for p in folder.glob("*.orig.tar.*") if not p.name.endswith(".asc")), None)
        if description is None or archive is None:
            return None
        version = re.search(r"(?m)^Version: (\S+)$", description.read_text(errors="replace"))
        return (name, version[1], archive) if version else None

    return _each(fetch, names)


def _deb(target: Path, names: list[str], versions: dict[str, str]) -> Iterator[Found]:
    """Binary packages, unpacked to a tar of what they install."""
    options = _apt(target, "deb")

    def fetch(name: str) -> Found | None:
        folder = target / name
        if not folder.exists():
            folder.mkdir()
            what = f"{name}={versions[name]}" if name in versions else name
            _run(["apt-get", *options, "download", what], folder)
        for package in folder.glob("*.deb"):
            archive = package.with_suffix(".tar")
            if not archive.exists():
                with archive.open("wb") as file:
                    subprocess.run(["dpkg-deb", "--fsys-tarfile", package], stdout=file, check=True)
            return name, package.name.split("_")[1].replace("%3a", ":"), archive
        return None

    return _each(fetch, names)


CLIENTS: dict[str, Callable[[Path, list[str], dict[str, str]], Iterator[Found]]] = {
    "pypi": _pypi,
    "npm": _npm,
    "crates": _crates,
    "go": _go,
    "maven": _maven,
    "debian": _debian,
    "deb": _deb,
}
