"""What each agent's own tools would do, in Tether's words: a verb, its arguments and its effects."""

from __future__ import annotations

import os
import sys
from hashlib import sha256

from tether.errors import TetherError
from tether.types import Effect, Risk, noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from tether.edges.hooks.wires import Event
    from tether.project import Project

# agent's tool → Tether's verb
NAMES: Final[dict[str, str]] = {
    # Claude Code
    "Read": "read_file",
    "Edit": "edit_file",
    "MultiEdit": "edit_file",
    "Write": "write_file",
    "NotebookEdit": "edit_notebook",
    "Bash": "run_command",
    "Monitor": "run_command",
    "Grep": "search",
    "Glob": "search",
    "LS": "search",
    # Gemini CLI
    "read_file": "read_file",
    "list_directory": "search",
    "grep_search": "search",
    "search_file_content": "search",
    "glob": "search",
    "edit": "edit_file",
    "replace": "edit_file",
    "write_file": "write_file",
    "run_shell_command": "run_command",
    # Codex
    "shell": "run_command",
    "local_shell": "run_command",
    "exec_command": "run_command",
    "unified_exec": "run_command",
    "apply_patch": "apply_patch",
    # Cline
    "write_to_file": "write_file",
    "new_file": "write_file",
    "replace_in_file": "replace_blocks",
    "new_rule": "write_file",
    "execute_command": "run_command",
    "list_files": "search",
    "search_files": "search",
    "list_code_definition_names": "search",
}
# tools that touch no file and run nothing: they talk, plan, wait, look things up, or start agents that come
# here with their own tools. INVARIANT: a tool that is neither here nor above is asked about, never waved through
HARMLESS: Final[frozenset[str]] = frozenset(
    """
    Agent AskUserQuestion BashOutput CronDelete CronList EnterPlanMode ExitPlanMode KillBash KillShell
    ListMcpResourcesTool LSP NotebookRead ReadMcpResourceTool SendMessage Skill SlashCommand Task TaskCreate TaskGet
    TaskList TaskOutput TaskStop TaskUpdate TodoRead TodoWrite ToolSearch WebFetch WebSearch exit_plan_mode
    activate_skill ask_user cli_help complete_task delegate_to_agent enter_plan_mode get_internal_docs
    google_web_search read_many_files web_fetch write_todos
    close_agent list_dir request_user_input send_input spawn_agent tool_search update_plan view_image wait
    wait_agent web_search
    act_mode_respond ask_followup_question attempt_completion condense focus_chain load_mcp_documentation new_task
    plan_mode_respond summarize_task use_skill
    """.split()
)
PATH_KEYS = ("file_path", "notebook_path", "absolute_path", "absolutePath", "dir_path", "path")


@noun
class Use:
    """A tool use, understood."""

    verb: str
    args: dict[str, Any]
    effects: tuple[Effect, ...]
    predicted: dict[str, tuple[str, ...]] = {}  # noqa: RUF012  path as given → hashes it may have afterwards
    results: tuple[bytes, ...] = ()  # the bytes those hashes are of, as far as they are known
    command: str = ""


def understand(event: Event, project: Project) -> Use | None:
    """What the tool would do; None when it is none of Tether's business."""
    verb = NAMES.get(event.tool)
    if verb is None:
        return _other(event, project)
    if verb == "search" and not any(event.input.get(key) for key in PATH_KEYS):
        return None  # it looks around where the agent already is
    if verb == "run_command":
        return _command(event, project)
    if verb in ("apply_patch", "replace_blocks"):
        return _patch(event, project, verb)
    path = _path(event)
    if verb in ("read_file", "search"):
        return Use(verb, {"path": path}, (Effect("read", path),))
    data = _content(project, path)
    if verb == "write_file":
        content = event.input.get("content", event.input.get("new_string"))
        if not isinstance(content, str):
            raise TetherError("BAD_ARGUMENTS", f"`{event.tool}` came without its content")
        results = _variants(content, data)
        hashes = tuple(sha256(result).hexdigest() for result in results)
        effect = Effect("write", path, after=hashes[0])
        return Use(verb, {"path": path, "content": content}, (effect,), {path: hashes}, results)
    if verb == "edit_notebook":
        return Use(verb, {"path": path, **_rest(event)}, (Effect("write", path, anchored=True),))
    return _edit(event, path, data)


def _other(event: Event, project: Project) -> Use | None:
    """MCP tools, tools known to be harmless, and all others: what those would do is not known."""
    if _is_mcp(event):
        return _mcp(event, project)
    if event.tool == "attempt_completion" and event.input.get("command"):
        return _command(event, project)
    # an empty line sent to a running program only asks what it has said since
    if event.tool in HARMLESS or (event.tool == "write_stdin" and not event.input.get("chars")):
        return None
    if not event.tool:
        raise TetherError("BAD_ARGUMENTS", "the event names no tool")
    risk = Risk(
        level="UNKNOWN", rules=("risk.tool.unknown",), reasons=("what this tool does is not known to Tether",)
    )
    name = event.tool[:100]
    return Use("use_tool", {"tool": name, "input": event.input}, (Effect("run", f"tool {name}", risk=risk),))


def _edit(event: Event, path: str, data: bytes | None) -> Use:
    edits = event.input.get("edits")
    if not isinstance(edits, list):
        edits = [event.input]
    args = {"path": path, "edits": [{k: e.get(k) for k in _EDIT_KEYS if k in e} for e in edits]}
    creates = data is None
    text: str | None = "" if creates else _decoded(data)
    for edit in edits:
        old, new = edit.get("old_string", ""), edit.get("new_string", "")
        if not isinstance(old, str) or not isinstance(new, str):
            raise TetherError("BAD_ARGUMENTS", f"`{event.tool}` came without its texts")
        if text is not None:
            text = _replaced(text, old, new, every=bool(edit.get("replace_all")))
    results = _variants(text, data) if text is not None else ()
    hashes = tuple(sha256(result).hexdigest() for result in results)
    effect = Effect("write", path, after=hashes[0] if hashes else None, anchored=not creates)
    return Use("edit_file", args, (effect,), {path: hashes} if hashes else {}, results)


_EDIT_KEYS = ("old_string", "new_string", "replace_all", "expected_replacements")


def _replaced(text: str, old: str, new: str, *, every: bool) -> str | None:
    """The text after an edit, or None where the agent's own tool must refuse or may do otherwise."""
    if not old:
        return new if not text else None
    if "\r\n" in text and "\r\n" not in old:
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    if old not in text:
        return None
    return text.replace(old, new) if every else text.replace(old, new, 1)


def _command(event: Event, project: Project) -> Use:
    given = event.input.get("command", event.input.get("cmd"))
    if isinstance(given, list) and all(isinstance(part, str) for part in given):
        if (
            len(given) == 3
            and os.path.basename(given[0]) in ("bash", "sh", "zsh")
            and given[1] in ("-c", "-lc")
        ):
            given = given[2]
        else:
            import shlex

            given = shlex.join(given)
    if not isinstance(given, str):
        raise TetherError("BAD_ARGUMENTS", f"`{event.tool}` came without its command")
    from tether.control.effects import command_effects
    from tether.control.risk import classify

    where = event.input.get("cwd", event.input.get("workdir", event.input.get("directory")))
    cwd = os.path.join(event.cwd, where) if isinstance(where, str) and where else event.cwd
    # this very installation's command is Tether wherever it lies; any other file of that name is just a file
    risk = classify(given.replace(command_name() + " ", "tether "), project.config.risk.rules)
    return Use(
        "run_command",
        {"command": given, "cwd": cwd},
        command_effects(given, risk, cwd, project.root.path),
        command=given,
    )


def command_name() -> str:
    """How this installation's `tether` is called from a shell."""
    beside = os.path.join(os.path.dirname(sys.executable), "tether")
    return beside if os.path.exists(beside) and " " not in beside else "tether"


def _patch(event: Event, project: Project, verb: str) -> Use:
    text = next((event.input[k] for k in ("patch", "input", "diff", "command") if k in event.input), None)
    if isinstance(text, list):
        text = text[-1]
    if not isinstance(text, str):
        raise TetherError("BAD_ARGUMENTS", f"`{event.tool}` came without its patch")
    from tether.tools.patches import VERBS

    args: dict[str, Any] = {"patch": text}
    if verb == "replace_blocks":
        args = {"patch": f"{os.path.relpath(_path(event), project.path)}\n{_blocks(text)}"}
    try:
        prepared = VERBS["apply_patch"].prepare(project.root, args)
    except TetherError as error:
        if error.code == "SECURITY_VIOLATION":
            raise
        # the agent's own tool may still apply it: judge the files it names, predict nothing
        effects = tuple(Effect("write", p, anchored=True) for p in _named_files(text, args["patch"]))
        if not effects:
            raise
        return Use("apply_patch", args, effects)
    predicted: dict[str, tuple[str, ...]] = {
        e.target: (e.after,) for e in prepared.effects if e.kind == "write" and e.after
    }
    return Use("apply_patch", args, prepared.effects, predicted)


def _blocks(text: str) -> str:
    """Cline's block markers in the spelling `apply_patch` knows."""
    lines = []
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith(("------- SEARCH", "<<<<<<< SEARCH")):
            line = "<<<<<<< SEARCH"
        elif bare.startswith(("+++++++ REPLACE", ">>>>>>> REPLACE")):
            line = ">>>>>>> REPLACE"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _named_files(*texts: str) -> list[str]:
    names: dict[str, None] = {}
    marks = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "--- a/", "+++ b/")
    for text in texts:
        for line in text.splitlines():
            for mark in marks:
                if line.startswith(mark):
                    names[line.removeprefix(mark).strip()] = None
    return list(names)


def _is_mcp(event: Event) -> bool:
    return (
        event.tool.startswith("mcp__")
        or event.tool in ("use_mcp_tool", "access_mcp_resource")
        or (event.agent == "gemini" and event.tool.startswith("mcp_"))
    )


def _mcp(event: Event, project: Project) -> Use | None:
    if event.tool == "use_mcp_tool":
        name = f"{event.input.get('server_name')}/{event.input.get('tool_name')}"
    else:
        name = event.tool.removeprefix("mcp_").removeprefix("_").replace("__", "/", 1)
    from tether.control.scope import compile_scope

    if compile_scope(project.config.security.mcp_tools).owns(name):
        risk = Risk(
            level="SAFE",
            rules=("risk.mcp.listed",),
            reasons=("listed in security.mcp_tools",),
            read_only=True,
        )
    else:
        risk = Risk(
            level="UNKNOWN", rules=("risk.mcp.unlisted",), reasons=("what an MCP tool does is not known",)
        )
    return Use(
        "call_mcp_tool", {"tool": name, "input": event.input}, (Effect("run", f"mcp {name}", risk=risk),)
    )


def _path(event: Event) -> str:
    for key in PATH_KEYS:
        value = event.input.get(key)
        if isinstance(value, str) and value:
            if event.agent == "cline" and value.startswith("@") and ":" in value:
                raise TetherError("BAD_ARGUMENTS", f"`{value[:80]}` names a file of another workspace folder")
            if value.startswith(("/", "~")):
                return value
            return os.path.join(event.cwd, value) if event.cwd else value
    raise TetherError("BAD_ARGUMENTS", f"`{event.tool}` came without its path")


def _rest(event: Event) -> dict[str, Any]:
    return {k: v for k, v in event.input.items() if k not in PATH_KEYS}


def _content(project: Project, path: str) -> bytes | None:
    spot = project.root.look(path, hash=False)
    if spot.problem or spot.kind != "file":
        return None
    return project.root.read(path)[0]


def _decoded(data: bytes | None) -> str | None:
    try:
        return (data or b"").decode("utf-8")
    except UnicodeDecodeError:
        return None


def _variants(text: str, data: bytes | None) -> tuple[bytes, ...]:
    """What the file may hold: agents keep a CRLF file's newlines, or do not."""
    spellings = [text]
    if data and b"\r\n" in data and "\r\n" not in text:
        spellings.append(text.replace("\n", "\r\n"))
    return tuple(s.encode("utf-8", "surrogatepass") for s in spellings)
