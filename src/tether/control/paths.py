"""Where a path a command names leads, by its spelling alone. HOOK PATH."""

from __future__ import annotations

import re

from tether.control.expansion import ANY, SOME

# Patterns stay text: `re` compiles one when a path first needs it, which most commands never do.
HARMLESS = r"/dev/(null|stdout|stderr|stdin|tty|zero|full|u?random|fd/\d+)|-|/proc/self/fd/[012]"
TEMPORARY = r"/(?:private/)?(?:var/)?tmp(?:/.*)?|/dev/shm/.+"
SYSTEM = (
    r"/(?:etc|usr|bin|sbin|lib|lib32|lib64|boot|sys|proc|var|root|opt|srv|run|dev|System|Library"
    r"|Applications)(?:/|$)"
)
PERSONAL = (
    r"(?:~[\w-]*|/home/[^/]+|/Users/[^/]+|/root)/\.(?:ssh|aws|gnupg|kube|docker|config|gitconfig|bash\w*|zsh\w*|profile|"
    r"zprofile|inputrc|netrc|npmrc|pypirc|cargo|local|claude|gemini|codex|vscode|cursor)(?:/|$)"
)
SECRETS = (
    r"(?:~[\w-]*|/home/[^/]+|/Users/[^/]+|/root)/\.(?:ssh/(?!known_hosts|config|.*\.pub$)|aws/credentials|gnupg|netrc|"
    r"pypirc|npmrc|kube/config|docker/config\.json|git-credentials|pgpass|config/gcloud)|/etc/(?:g?shadow|sudoers)|"
    r"/proc/(?:\d+|self)/(?:environ|mem)"
)
# the same places wherever their beginning leads: behind a variable, or seen from a folder that an option names
KEPT = (
    r"(?:^|[/=])\.(?:ssh(?!/known_hosts|/config|/[^/]*\.pub$)(?:/|$)|aws(?:/|$)|gnupg(?:/|$)|netrc$|pypirc$|kube(?:/|$)"
    r"|git-credentials$|pgpass$|config/(?:gcloud|gh)(?:/|$)|docker/config\.json$|vault-token$)"
    r"|(?:^|[/=])id_(?:rsa|dsa|ecdsa|ed25519)$|/etc/(?:g?shadow|sudoers)$"
)
OWN = r"(?:^|/)(?:\.tether|\.orchestration)(?:/|$)|(?:^|/)tether(?:\.local)?\.toml$"
AGENT = r"(?:^|/)\.(?:claude|gemini|codex|cline|clinerules)(?:/|$)"
GIT = r"(?:^|/)\.git(?:/|$)"


def join(folder: str, path: str) -> str:
    """A path as seen from a folder, without `.` and inner `..`; unknown folders make unknown paths."""
    if re.fullmatch(HARMLESS, path) or path.startswith(ANY):
        return path
    pieces: list[str] = []
    whole = path if not folder or path.startswith(("/", "~")) else f"{folder.rstrip('/')}/{path}"
    if ".." not in whole and "//" not in whole and "./" not in whole:
        return whole
    for piece in whole.split("/")[1 if whole.startswith("/") else 0 :]:
        if piece in ("", "."):
            continue
        if piece == ".." and pieces and pieces[-1] not in ("..", "~"):
            pieces.pop()
        else:
            pieces.append(piece)
    return ("/" if whole.startswith("/") else "") + "/".join(pieces) or "."


def leads_to_secrets(path: str) -> bool:
    """Whether an argument names a place where secrets are kept, however its beginning is spelled."""
    return ("." in path or "id_" in path or "/etc/" in path) and re.search(KEPT, path) is not None


def is_certain(path: str) -> bool:
    """Whether a spelling names exactly one path."""
    return bool(path) and not re.search(r"[*?\[]", path) and ANY not in path and SOME not in path


def judge_write(path: str) -> tuple[str, str, str]:
    """The level, rule and reason of writing to a path: R harmless, S inside the project, U, D."""
    shown = show(path)
    if re.fullmatch(HARMLESS, path):
        return "R", "risk.path.null", ""
    if re.match(r"/dev/(?:tcp|udp)/", path):
        return "U", "risk.path.socket", f"writes to the network through `{shown}`"
    if re.fullmatch(TEMPORARY, path) and ".." not in path:
        return (
            ("U", "risk.path.unknown", f"cannot tell which file `{shown}` is")
            if ANY in path
            else ("S", "risk.path.temporary", "")
        )
    if path.startswith("/dev/"):
        return "D", "risk.path.device", f"writes to the device `{shown}`"
    if path == "/" or re.match(SYSTEM, path):
        return "D", "risk.path.system", f"writes to the system's own file `{shown}`"
    if re.match(PERSONAL, path):
        return "D", "risk.path.personal", f"writes to personal settings, `{shown}`"
    if re.search(GIT, path):
        return "D", "risk.path.git", f"writes inside git's own folder, `{shown}`"
    if re.search(OWN, path) or re.search(AGENT, path):
        return "U", "risk.path.governing", f"writes to a file that governs the agent, `{shown}`"
    if ANY in path or path.startswith(SOME):
        return "U", "risk.path.unknown", f"cannot tell which file `{shown}` is"
    if path.startswith(("/", "~", "../")) or path == ".." or "/../" in path:
        return "U", "risk.path.outside", f"writes outside the project, to `{shown}`"
    return "S", "risk.path.project", ""


def show(text: str) -> str:
    """A field as a person can read it."""
    return text.replace(ANY, "…").replace(SOME, "…")[:80]
