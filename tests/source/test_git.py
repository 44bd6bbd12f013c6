import os
import stat
import subprocess

import pytest

from tether.source.git import (
    find_renames,
    find_repository,
    head_revision,
    read_objects,
    resolve_head,
    run_git,
    trace_renames,
)

ENV = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


def git(folder, *args):
    done = subprocess.run(["git", *args], cwd=folder, env=ENV, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "-qb", "main")
    (folder / "src" / "a.py").write_text("".join(f"line {n}\n" for n in range(30)))
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    return folder


def test_a_repository_is_found_from_any_folder_in_it(project):
    repo = find_repository(str(project / "src"))
    assert (repo.root, repo.git_dir) == (str(project), str(project / ".git"))
    assert (repo.common_dir, repo.main_root) == (repo.git_dir, repo.root)


def test_no_repository_is_none(tmp_path):
    (tmp_path / ".git").write_text("not a pointer\n")
    assert find_repository(str(tmp_path)) is None


def test_the_environment_does_not_redirect(project, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    repo = find_repository(str(project))
    assert head_revision(repo) == resolve_head(repo) == git(project, "rev-parse", "HEAD")
    assert run_git(repo, "rev-parse", "HEAD").decode().strip() == head_revision(repo)


def test_a_linked_worktree_shares_the_main_ones_home(project, tmp_path):
    linked = tmp_path / "linked"
    git(project, "worktree", "add", "-q", str(linked), "-b", "side")
    (linked / "b").write_text("b")
    git(linked, "add", "-A")
    git(linked, "commit", "-qm", "two")
    repo = find_repository(str(linked))
    assert (repo.root, repo.main_root) == (str(linked), str(project))
    assert repo.common_dir == str(project / ".git")
    assert head_revision(repo) == git(linked, "rev-parse", "HEAD")
    assert head_revision(repo) != head_revision(find_repository(str(project)))


def test_a_folder_that_only_claims_to_be_a_worktree_gets_no_home_of_others(project, tmp_path):
    git(project, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    thief = tmp_path / "thief"
    thief.mkdir()
    (thief / ".git").write_bytes((tmp_path / "linked" / ".git").read_bytes())
    assert find_repository(str(thief)).main_root == str(thief)


def test_a_submodule_is_its_own_repository(project, tmp_path):
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-qb", "main")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(project), "sub")
    repo = find_repository(str(outer / "sub"))
    assert repo.root == repo.main_root == str(outer / "sub")
    assert repo.git_dir == str(outer / ".git" / "modules" / "sub")
    assert head_revision(repo) == git(project, "rev-parse", "HEAD")


def test_head_is_read_loose_packed_and_detached(project):
    revision = git(project, "rev-parse", "HEAD")
    repo = find_repository(str(project))
    assert head_revision(repo) == revision
    git(project, "pack-refs", "--all", "--prune")
    assert not (project / ".git" / "refs" / "heads" / "main").exists()
    assert head_revision(repo) == revision
    git(project, "checkout", "-q", "--detach")
    assert head_revision(repo) == revision


def test_an_unborn_branch_has_no_revision(tmp_path):
    git(tmp_path, "init", "-qb", "main")
    assert head_revision(find_repository(str(tmp_path))) == ""


def test_references_kept_otherwise_are_left_to_git(project):
    repo = find_repository(str(project))
    (project / ".git" / "reftable").mkdir()
    (project / ".git" / "HEAD").write_text("ref: refs/heads/.invalid\n")
    assert head_revision(repo) is None


@pytest.mark.parametrize(
    "text",
    ["ref: ../../../etc/passwd", "ref: refs/../../x", "garbage", "", "ref: HEAD", "ref: refs/x\0y", "a" * 39],
)
def test_a_hostile_head_leads_nowhere(project, text):
    repo = find_repository(str(project))
    (project / ".git" / "HEAD").write_text(text)
    assert head_revision(repo) is None
    assert resolve_head(repo) is None


def test_symbolic_references_do_not_go_round_for_ever(project):
    (project / ".git" / "refs" / "heads" / "main").write_text("ref: refs/heads/main\n")
    assert head_revision(find_repository(str(project))) is None


def test_staged_and_committed_renames_are_followed(project):
    first = git(project, "rev-parse", "HEAD")
    git(project, "mv", "src/a.py", "src/b.py")
    repo = find_repository(str(project))
    assert find_renames(repo) == {"src/b.py": "src/a.py"}
    assert trace_renames(repo, "src/b.py") == ["src/a.py"]
    git(project, "commit", "-qm", "two")
    git(project, "mv", "src/b.py", "src/c d.py")
    assert find_renames(repo, first) == {"src/b.py": "src/a.py", "src/c d.py": "src/a.py"}
    git(project, "commit", "-qm", "three")
    git(project, "mv", "src/c d.py", "ü.py")
    assert trace_renames(repo, "ü.py") == ["src/c d.py", "src/b.py", "src/a.py"]
    assert trace_renames(repo, "src/c d.py") == ["src/b.py", "src/a.py"]


def test_a_hostile_configuration_runs_nothing(project, tmp_path):
    mark = tmp_path / "ran"
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {mark}\nexit 0\n")
    evil.chmod(evil.stat().st_mode | stat.S_IXUSR)
    (project / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "attributes")
    for setting in (
        "core.fsmonitor", "core.pager", "core.sshCommand", "core.gitProxy", "core.editor", "core.askPass",
        "core.alternateRefsCommand", "diff.external", "diff.evil.command", "diff.evil.textconv",
        "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "gpg.program", "pager.log",
        "pager.blame", "pager.diff", "credential.helper", "alias.log", "alias.blame", "merge.evil.driver",
    ):  # fmt: skip
        git(project, "config", setting, str(evil) if not setting.startswith("alias") else f"!{evil}")
    git(project, "config", "log.showSignature", "true")
    git(project, "config", "core.hooksPath", str(tmp_path))
    git(project, "config", "extensions.partialClone", "origin")
    git(project, "config", "remote.origin.promisor", "true")
    git(project, "config", "remote.origin.url", f"ext::{evil}")
    git(project, "config", "protocol.ext.allow", "always")
    mark.unlink(missing_ok=True)
    (project / "src" / "a.py").write_text("changed\n")
    repo = find_repository(str(project))
    head_revision(repo)
    find_renames(repo, head_revision(repo))
    trace_renames(repo, "src/a.py")
    assert run_git(repo, "blame", "-w", "--no-textconv", "--porcelain", "HEAD", "--", "src/a.py")
    assert run_git(repo, "log", "-p", "--no-ext-diff", "--no-textconv", "HEAD", "--")
    assert run_git(repo, "cat-file", "-p", "1" * 40) is None
    assert not mark.exists()


def test_objects_are_read_all_at_once(project):
    repo = find_repository(str(project))
    text = (project / "src" / "a.py").read_bytes()
    names = ["HEAD:src/a.py", "HEAD:nothing", "", "HEAD:src", "a\nb", "HEAD:src/a.py missing", "HEAD"]
    found = read_objects(repo, names)
    assert found[:6] == [text, None, None, None, None, None]
    assert found[6].startswith(b"tree ")
    assert read_objects(repo, []) == []


def test_a_pathspec_is_only_a_path(project):
    repo = find_repository(str(project))
    assert run_git(repo, "blame", "--porcelain", "HEAD", "--", ":(glob)**") is None


def test_git_that_fails_is_none(project):
    repo = find_repository(str(project))
    assert run_git(repo, "no-such-command") is None
    assert run_git(repo, "log", "\0") is None
