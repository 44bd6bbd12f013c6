"""git and its hosts' command lines. HOOK PATH."""
# ruff: noqa: E501 — a rule reads best on one line

from __future__ import annotations

import re

from tether.control.commands import options
from tether.control.expansion import ANY
from tether.control.paths import show
from tether.source.pattern import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tether.control.commands.readers import Rules
    from tether.control.risk import Feed, Scan

GLOBAL = "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source"
# settings whose value git runs, or that make it run something
RUNS = lazy(
    r"(?i)alias\..*|core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|alternaterefscommand)|pager\..*"
    r"|diff\.external|diff\..*\.(?:command|textconv)|merge\..*\.driver|filter\..*|credential\..*|sequence\.editor|gpg\..*"
    r"|difftool\..*|mergetool\..*|uploadpack\..*|receive\..*|remote\..*\.(?:uploadpack|receivepack|proxy)|protocol\..*"
    r"|init\.templatedir|interactive\.difffilter|include\.path|includeif\..*|browser\..*|man\..*|web\..*|sendemail\..*|url\..*"
)
_LOST = "throws away work that is not committed"
_VALUED = (
    "-m -F -n -S -G -L -U -O -u -x -s -X -t --author --date --format --pretty --since --until --after --before --grep"
    " --max-count --skip --message --file --exec --output --depth --strategy --onto --upload-pack --receive-pack --branch -b"
    " -B -o --remote --source --reuse-message -C --cleanup --pathspec-from-file --abbrev --sort --count --contains --points-at"
)
# fmt: off
RULES: Rules = (
    (
        "R", "read",
        "status|log|show|diff|blame|annotate|ls-files|ls-tree|rev-parse|rev-list|show-ref|for-each-ref|name-rev|describe"
        "|shortlog|whatchanged|grep|merge-base|diff-tree|diff-index|diff-files|check-ignore|check-attr|check-ref-format|var"
        "|version|help|range-diff|cherry|cat-file|count-objects|fsck|verify-commit|verify-tag|show-branch|stripspace|column"
        "|get-tar-commit-id|merge-tree|patch-id|check-mailmap|interpret-trailers|difftool-list", "",
    ),
    ("S", "remote", "ls-remote", ""),
    ("U", "output", "--output", "an option makes git write its output to a file"),
    ("U", "program", "--ext-diff|--textconv|--upload-pack|--receive-pack|--open-files-in-pager|--exec-path", "an option makes git run a program"),
    ("U", "grep-pager", "grep -O", "an option makes git run a program"),
    ("U", "in-place", "interpret-trailers --in-place", "rewrites a file"),
    ("R", "reflog", "reflog $", ""),
    ("R", "reflog", "reflog show|list|exists", ""),
    ("D", "reflog-expire", "reflog expire|delete", "forgets how to get lost commits back"),
    ("R", "branch-list", "branch $ !-d|-D|-m|-M|-c|-C|-f|--delete|--move|--copy|--force|--edit-description|-u|--set-upstream-to|--unset-upstream", ""),
    ("R", "branch-list", "branch --list|-l|--show-current|--contains|--merged|--no-merged|--no-contains|--points-at !-d|-D|-m|-M|-f|--delete", ""),
    ("S", "branch-new", "branch * !-d|-D|-m|-M|-c|-C|-f|-u|--delete|--move|--copy|--force|--set-upstream-to|--unset-upstream", ""),
    ("U", "branch-delete", "branch -d|--delete", "deletes a branch"),
    ("D", "branch-force", "branch -D", "deletes a branch even when it is not merged"),
    ("D", "branch-force", "branch --delete|-d|-m|-c --force|-f", "deletes or replaces a branch even when it is not merged"),
    ("D", "branch-force", "branch -f|--force|-M|-C", "moves or replaces a branch, whatever it pointed to"),
    ("R", "tag-list", "tag $ !-d|--delete", ""),
    ("R", "tag-list", "tag -l|--list|--contains|--points-at|--merged|-n|-v|--verify !-d|--delete", ""),
    ("D", "tag-delete", "tag -d|--delete", "deletes a tag"),
    ("U", "tag-force", "tag -f|--force", "moves a tag"),
    ("R", "stash-list", "stash list|show", ""),
    ("D", "stash-drop", "stash drop|clear", "throws away stashed work"),
    ("R", "remote-list", "remote $", ""),
    ("R", "remote-list", "remote show|get-url", ""),
    ("D", "remote-remove", "remote remove|rm|prune", "removes a remote and its branches"),
    ("R", "config-get", "config --get|--get-all|--get-regexp|--list|-l|--show-origin|--get-urlmatch !--unset|--unset-all|--replace-all|--add|-e|--edit", ""),
    ("R", "config-get", "config get|list", ""),
    ("R", "config-get", "config * $", ""),
    ("U", "config-set", "config * *", "changes git's settings"),
    ("U", "config-edit", "config --edit|-e|--unset|--unset-all|--remove-section|--rename-section|--add|--replace-all", "changes git's settings"),
    ("R", "worktree-list", "worktree list", ""),
    ("D", "worktree-force", "worktree remove --force|-f", "deletes a worktree with its uncommitted work"),
    ("R", "submodule-status", "submodule $", ""),
    ("R", "submodule-status", "submodule status|summary", ""),
    ("D", "submodule-deinit", "submodule deinit", "removes submodules' work trees"),
    ("R", "notes", "notes $", ""),
    ("R", "notes", "notes list|show", ""),
    ("D", "notes-remove", "notes remove|prune", "deletes notes"),
    ("R", "bisect", "bisect log|visualize|view", ""),
    ("R", "apply-check", "apply --check|--stat|--numstat|--summary !--apply", ""),
    ("S", "archive", "archive !--remote|--exec", ""),
    ("S", "hash-object", "hash-object", ""),
    ("R", "symbolic-ref", "symbolic-ref * $", ""),
    ("S", "add", "add|stage", ""),
    ("S", "commit", "commit", ""),
    ("U", "commit-amend", "commit --amend|--no-verify|-n|--fixup|--squash", "rewrites the last commit or skips its checks"),
    ("S", "new-branch", "checkout -b|--orphan !-f|--force|-B", ""),
    ("S", "new-branch", "switch -c|--create|--orphan !-f|--force|--discard-changes|-C", ""),
    ("S", "fetch", "fetch !--force|-f|--prune|-p|--prune-tags|-P", ""),
    ("S", "init", "init", ""),
    ("U", "template", "init|clone --template|--separate-git-dir", "copies hooks from a template"),
    ("S", "unstage", "restore --staged|-S !--worktree|-W", ""),
    ("S", "credential", "maintenance run", ""),
    ("D", "restore", "restore --worktree|-W", _LOST),
    ("D", "restore", "restore !--staged|-S", _LOST),
    ("D", "reset-hard", "reset --hard|--merge|--keep", _LOST),
    ("D", "checkout-force", "checkout -f|--force", _LOST),
    ("D", "switch-force", "switch -f|--force|--discard-changes", _LOST),
    ("U", "checkout-replace", "checkout|switch -B|-C|--force-create", "replaces a branch, whatever it pointed to"),
    ("R", "clean-dry", "clean -n|--dry-run", ""),
    ("D", "clean", "clean !-n|--dry-run", "deletes files that git does not track"),
    ("D", "rm", "rm -r|-f|--force !--cached|-n|--dry-run", "deletes files"),
    ("R", "rm-dry", "rm -n|--dry-run", ""),
    ("D", "push-force", "push --force|-f|--force-with-lease|--force-if-includes|--mirror|--prune", "overwrites or deletes what others have pushed"),
    ("D", "push-delete", "push --delete|-d", "deletes a branch or tag for everyone"),
    ("R", "push-dry", "push --dry-run|-n !--force|-f|--delete|-d|--mirror", ""),
    ("D", "filter", "filter-branch|filter-repo", "rewrites the whole history"),
    ("D", "update-ref", "update-ref -d|--stdin", "deletes references"),
    ("D", "gc", "gc --prune", "deletes objects that nothing refers to"),
    ("D", "prune", "prune|prune-packed", "deletes objects that nothing refers to"),
    ("D", "abort", "rebase|merge|cherry-pick|revert|am --abort|--quit|--skip", _LOST),
    ("D", "read-tree", "read-tree --reset|-u", _LOST),
    ("D", "checkout-index", "checkout-index -f|--force", _LOST),
    ("D", "replace", "replace -d|--delete", "deletes references"),
    ("D", "lfs-prune", "lfs prune", "deletes stored files"),
    ("R", "lfs", "lfs ls-files|status|env|version|track $", ""),
    ("U", "merge", "merge|rebase|cherry-pick|revert|pull|am|apply|mv|rm|reset|checkout|switch|stash", "changes the work tree or the history"),
    ("U", "push", "push", "publishes commits"),
    ("U", "clone", "clone", "copies a repository from another machine"),
)
# fmt: on
SCRIPTED = lazy(r"(?:^|[\s=])ext::")


def judge_git(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """git: global options first, then the sub-command's rules."""
    from tether.control.commands import judge_tool

    parsed = options.parse(args, GLOBAL, stop=True)
    rest = parsed.operands
    for setting in parsed.values("-c|--config-env"):
        judge_setting(scan, *setting.partition("=")[::2])
    if parsed.has("--exec-path") and any(value for value in parsed.values("--exec-path")):
        scan.note("U", "risk.git.exec-path", "`--exec-path` makes git run other programs")
    if any(ANY in arg for arg in args[: parsed.first + 1]) and not all(
        ANY in v for v in parsed.values("-C") or [ANY]
    ):
        scan.note("U", "risk.shell.options", "cannot tell which options git is given")
    if not rest:
        level = (
            "R"
            if all(a in ("--version", "--help", "-v", "-h", "--html-path", "--man-path", "-p") for a in args)
            else "U"
        )
        scan.note(level, "risk.git.version", "" if level == "R" else "cannot tell what git is asked to do")
        return
    folder = scan.folder
    for path in parsed.values("-C"):
        from tether.control.commands.wrappers import change_folder

        change_folder(scan, path)
    sub, inner = rest[0], rest[1:]
    if ANY in sub:
        scan.note("U", "risk.git.unknown", "cannot tell what git is asked to do")
    judge_tool(
        scan,
        "git",
        (_VALUED if sub not in ("grep", "branch", "remote") else "-C -c -m --format --sort", RULES),
        rest,
    )
    judge_paths(scan, sub, inner)
    if any(SCRIPTED.search(arg) for arg in inner):
        scan.note("D", "risk.git.ext", "`ext::` addresses make git run a command")
    judge_commands(scan, sub, inner)
    scan.folder = folder


def judge_setting(scan: Scan, key: str, value: str) -> None:
    """`git -c key=value`: some settings are commands."""
    if ANY in key:
        scan.note("U", "risk.git.config", "cannot tell which of git's settings changes")
    elif RUNS.fullmatch(key):
        if key.lower().startswith(("core.pager", "pager.")) and value in ("", "cat", "less", "false", "true"):
            return
        if key.lower().startswith(("gpg.", "credential.")) and value in ("", "openpgp", "ssh", "x509"):
            return
        scan.note("U", "risk.git.config-run", f"git's setting `{show(key)}` runs a command")
        if value.startswith("!"):
            scan.read_script(value[1:])
        elif key.lower().startswith("alias."):
            judge_git(scan, "git", value.split(), _nothing())
        else:
            scan.read_script(value)
    elif key.lower() == "clean.requireforce":
        scan.note("U", "risk.git.config", "lets `git clean` delete without being told twice")


def _nothing() -> Feed:
    from tether.control.risk import Feed

    return Feed()


def judge_paths(scan: Scan, sub: str, inner: list[str]) -> None:
    """Operands of sub-commands that name files or references."""
    parsed = options.parse(inner, _VALUED)
    if sub == "checkout":
        paths = inner[inner.index("--") + 1 :] if "--" in inner else []
        loose = [
            o for o in parsed.operands if o in (".", "*", ":/") or re.search(r"\.[a-z]{1,5}$|^\./|/$", o)
        ]
        if paths or "--" in inner or loose or parsed.has("-p|--patch|--pathspec-from-file|--ours|--theirs"):
            scan.note("D", "risk.git.checkout-path", _LOST)
            scan.write(*(paths or loose))
    elif sub == "restore":
        scan.write(*parsed.operands)
    elif sub in ("rm", "mv"):
        scan.write(*parsed.operands, level="U")
    elif sub == "push":
        if any(re.match(r"[:+]", operand) for operand in parsed.operands[1:]):
            scan.note("D", "risk.git.push-refspec", "deletes or overwrites what others have pushed")
        scan.reach(*[o for o in parsed.operands[:1] if "://" in o or re.match(r"[\w.-]+@[\w.-]+:", o)])
    elif sub in ("clone", "ls-remote", "fetch", "pull"):
        for operand in parsed.operands[:1]:
            if "://" in operand or re.match(r"(?:[\w.-]+@)?[\w.-]+:", operand):
                scan.reach(operand.replace(":", "/", 1) if "://" not in operand else operand)
                if sub in ("fetch", "ls-remote"):
                    scan.note("U" if sub == "fetch" else "S", "risk.net.git", "fetches from another address")
        if sub == "fetch" and any(operand.startswith(("+", "/", ".", "~")) for operand in parsed.operands):
            scan.note("U", "risk.git.fetch-force", "fetches from a folder, or overwrites local branches")
    elif sub == "archive":
        scan.write(*parsed.values("-o|--output"))
    elif sub == "symbolic-ref" and parsed.has("-d|--delete"):
        scan.note("D", "risk.git.update-ref", "deletes references")


def judge_commands(scan: Scan, sub: str, inner: list[str]) -> None:
    """Sub-commands that run other commands."""
    if sub == "submodule":
        operands = options.parse(inner, stop=True).operands
        if operands[:1] == ["foreach"]:
            rest = [a for a in operands[1:] if a not in ("--recursive", "--quiet", "-q")]
            scan.note("S", "risk.git.foreach")
            scan.read_script(" ".join(rest))
    elif sub == "bisect" and inner[:1] == ["run"]:
        scan.note("U", "risk.git.bisect", "moves through the history")
        from tether.control.commands.wrappers import run_rest

        run_rest(scan, "git", inner[1:], _nothing())
    elif sub == "rebase":
        for text in options.parse(inner, "-x --exec -s -X --onto").values("-x|--exec"):
            scan.read_script(text)
    elif sub in ("filter-branch", "difftool", "mergetool"):
        for text in options.parse(
            inner, "-x --extcmd --tree-filter --index-filter --msg-filter --env-filter"
        ).values("-x|--extcmd|--tree-filter|--index-filter|--msg-filter|--env-filter"):
            scan.read_script(text)
    elif sub == "config":
        operands = options.parse(inner, "-f --file --type").operands
        operands = operands[1:] if operands[:1] == ["set"] else operands
        if len(operands) >= 2:
            judge_setting(scan, operands[0], operands[1])
        elif len(operands) == 1 and operands[0] not in ("set", "unset", "edit", "get", "list"):
            scan.note("R", "risk.git.config-get")
        if (
            operands[:1]
            and re.match(r"(?i)core\.(hookspath|fsmonitor|sshcommand)", operands[0])
            and len(operands) > 1
        ):
            scan.note("D", "risk.git.hooks", "makes git run other code from now on")


# fmt: off
_GONE = "deletes it for everyone"
TOOLS: dict[str, tuple[str, Rules]] = {
    "gh": (
        "-R --repo -L --limit -s --state -q --jq -t --template --json -X --method -f -F -H --field --raw-field --header"
        " --input --search --author --label --assignee -b -B --body --title --base --head -w --workflow --branch --hostname",
        (
            ("S", "read", "pr|issue|repo|release|run|workflow|gist|label|cache|secret|variable|ruleset|project|org|extension|alias|config|ssh-key|gpg-key|codespace list|ls|view|status|checks|diff|get", ""),
            ("S", "read", "run watch", ""),
            ("S", "read", "auth status", ""),
            ("S", "read", "search|status|version|help|browse", ""),
            ("S", "api", "api !-X|--method|-f|-F|--field|--raw-field|--input", ""),
            ("S", "api", "api -X=GET", ""),
            ("S", "api", "api --method=GET", ""),
            ("D", "api-delete", "api -X=DELETE", _GONE),
            ("D", "api-delete", "api --method=DELETE", _GONE),
            ("D", "delete", "repo|release|issue|run|gist|label|cache|secret|variable|ssh-key|gpg-key|project|codespace|alias|ruleset delete|remove|archive|delete-asset", _GONE),
            ("D", "merge-admin", "pr merge --admin|--delete-branch|-d", "merges past the rules or deletes the branch"),
            ("U", "change", "pr|issue|repo|release|workflow|run create|edit|merge|close|reopen|comment|review|ready|fork|clone|sync|rerun|cancel|run|enable|disable|checkout|transfer|lock", "changes something on the hosting service"),
        ),
    ),
    "hg": ("-R --cwd", (
        ("R", "read", "status|st|log|diff|annotate|blame|cat|summary|identify|id|branches|tags|heads|parents|root|manifest|grep|paths", ""),
        ("S", "commit", "add|commit|ci", ""),
        ("D", "lose", "strip|purge|rollback|update|revert|rebase|histedit|uncommit --clean|-C|--no-backup|-a|--all", _LOST),
        ("D", "strip", "strip|purge|rollback|revert", _LOST))),
    "svn": ("", (
        ("R", "read", "status|st|log|diff|info|blame|cat|list|ls|proplist|propget", ""),
        ("S", "add", "add", ""),
        ("D", "revert", "revert|delete|rm|remove|del|cleanup", _LOST))),
    "jj": ("-R", (
        ("R", "read", "log|status|st|diff|show", ""),
        ("D", "abandon", "abandon|restore|op", _LOST))),
}
TOOLS["glab"] = ("", (("S", "read", "mr|issue|repo|ci|release|pipeline list|view|status|diff", ""), ("D", "delete", "* delete", _GONE)))
TOOLS["git-lfs"] = ("", (("R", "read", "ls-files|status|env|version", ""), ("D", "prune", "prune", "deletes stored files")))
# fmt: on
JUDGES = {"git": judge_git}
