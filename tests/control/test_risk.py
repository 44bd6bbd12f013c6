"""Command risk: judged by a corpus, and by what must hold for any text."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tether.control.commands import FAMILIES, _index, _load, readers
from tether.control.commands.governed import ALLOWED
from tether.control.risk import classify
from tether.types import Risk

CORPUS = Path(__file__).parent / "commands"


def load(name: str) -> list[str]:
    """The commands of one file of the corpus; ␤ stands for a newline."""
    lines = (CORPUS / f"{name}.txt").read_text().splitlines()
    return [line.replace("␤", "\n") for line in lines if line.strip() and not line.startswith("# ")]


SAFE, UNKNOWN, DESTRUCTIVE = load("safe"), load("unknown"), load("destructive")


def test_the_corpus_is_large_and_its_commands_are_distinct() -> None:
    assert len(set(SAFE)) == len(SAFE) >= 600
    assert len(set(UNKNOWN)) == len(UNKNOWN) >= 300
    assert len(set(DESTRUCTIVE)) == len(DESTRUCTIVE) >= 500
    assert (
        not set(SAFE) & set(UNKNOWN)
        and not set(SAFE) & set(DESTRUCTIVE)
        and not set(UNKNOWN) & set(DESTRUCTIVE)
    )


def test_no_destructive_command_is_safe() -> None:
    assert [command for command in DESTRUCTIVE if classify(command).level == "SAFE"] == []


def test_destructive_commands_are_recognised() -> None:
    missed = [command for command in DESTRUCTIVE if classify(command).level != "DESTRUCTIVE"]
    print(*missed, sep="\n")
    assert len(missed) <= 0.05 * len(DESTRUCTIVE)


def test_safe_commands_are_not_asked_about() -> None:
    asked = [command for command in SAFE if classify(command).level != "SAFE"]
    print(*asked, sep="\n")
    assert len(asked) <= 0.03 * len(SAFE)


def test_no_unknown_command_is_safe() -> None:
    assert [command for command in UNKNOWN if classify(command).level == "SAFE"] == []


def test_nothing_but_safe_commands_is_read_only() -> None:
    for command in [*UNKNOWN, *DESTRUCTIVE]:
        assert not classify(command).read_only, command


def test_a_verdict_says_why() -> None:
    for command in [*SAFE, *UNKNOWN, *DESTRUCTIVE]:
        risk = classify(command)
        assert risk.reasons and risk.rules, command
        assert all(rule.startswith("risk.") for rule in risk.rules), command
        assert all("\n" not in reason or "\n" in command for reason in risk.reasons), command
    assert classify("ls; rm x").reasons[0] == "`rm` deletes `x`"
    assert classify("ls; rm x").rules[0] == "risk.file.rm"
    assert classify("git reset --hard").rules[0] == "risk.git.reset-hard"


# ── fields ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "cat a | grep b | sort | uniq -c | head",
        "cd x && cat y",
        "git status && git log -3",
        "git diff > /dev/null 2>&1",
        "find . -name '*.py'",
        "find . -name '*.py' -exec grep x {} +",
        "ls | xargs wc -l",
        "sed -n 1,5p f",
        "awk '{print $1}' f",
        "for f in *; do cat $f; done",
        "x=1; echo $x",
        "sort -u f",
        "tar tf a.tar",
        "bash -c 'ls | wc -l'",
        "env -u A timeout 5 ls",
        "python3 -c 'import sys; print(sys.version)'",
    ],
)
def test_looking_is_read_only(command: str) -> None:
    risk = classify(command)
    assert (risk.level, risk.read_only) == ("SAFE", True)


@pytest.mark.parametrize(
    "command",
    [
        "ls > out",
        "ls >> out",
        "ls &> out",
        "sort -o a a",
        "sort --output=a a",
        "cat a | tee b",
        "sed 's/a/b/w out' f",
        "sed -i s/a/b/ f",
        "awk '{print > \"out\"}' f",
        "uniq a b",
        "pytest",
        "make",
        "npm test",
        "mkdir x",
        "touch x",
        "cp a b",
        "tree -o x",
        "find . -fprint out",
        "git add .",
        "git commit -m x",
        "git fetch",
        "python3 -c 'import mymodule'",
        "node -e 'console.log(1)'",
        "yq -i .a f",
        "tar cf a.tar src",
        "trap 'ls' EXIT",
    ],
)
def test_what_may_write_is_not_read_only(command: str) -> None:
    assert not classify(command).read_only


@pytest.mark.parametrize(
    ("command", "writes"),
    [
        ("echo a > b", ("b",)),
        ("echo a >> b 2> c", ("b", "c")),
        ("cd src && echo a > b", ("src/b",)),
        ("cd src/x && touch ../y", ("src/y",)),
        ("(cd src && touch a); touch b", ("src/a", "b")),
        ("cd /tmp && touch a", ("/tmp/a",)),
        ("cd $X && touch a", ()),
        ("tee a b < c", ("a", "b")),
        ("cp a b c d/", ("d/",)),
        ("cp -t d a b", ("d",)),
        ("mv a b", ("a", "b")),
        ("rm -rf a b", ("a", "b")),
        ("touch a b", ("a", "b")),
        ("mkdir -p -m 755 a/b", ("a/b",)),
        ("ln -s a b", ("b",)),
        ("sed -i s/a/b/ f g", ("f", "g")),
        ("sed -i -e s/a/b/ f", ("f",)),
        ("dd if=a of=b", ("b",)),
        ("truncate -s 0 f", ("f",)),
        ("chmod +x a", ("a",)),
        ("git checkout -- a b", ("a", "b")),
        ("git rm a", ("a",)),
        ("git mv a b", ("a", "b")),
        ("git -C sub rm a", ("sub/a",)),
        ("rm *.txt", ()),
        ('rm "$f"', ()),
        ("echo a > /dev/null", ()),
        ("for f in a b; do touch $f; done", ("a", "b")),
        ("x=out; echo a > $x", ("out",)),
        ("bash -c 'cd a; touch b'; touch c", ("a/b", "c")),
        ("sort -o a b", ("a",)),
    ],
)
def test_writes_are_the_paths_a_command_certainly_names(command: str, writes: tuple[str, ...]) -> None:
    assert classify(command).writes == writes


@pytest.mark.parametrize(
    ("command", "reads"),
    [
        ("cat a b", ("a", "b")),
        ("head -n 5 a", ("a",)),
        ("cd src && cat a", ("src/a",)),
        ("cat < a", ("a",)),
        ("cp a b", ("a",)),
        ("sed -n 1p a", ("a",)),
        ("awk '{print}' a", ("a",)),
        ("wc -l a", ("a",)),
        ("cat *.py", ()),
    ],
)
def test_reads_are_the_paths_a_command_certainly_names(command: str, reads: tuple[str, ...]) -> None:
    assert classify(command).reads == reads


@pytest.mark.parametrize(
    ("command", "hosts"),
    [
        ("curl https://api.example.com/x", ("api.example.com",)),
        ("curl -s user@h.example:8080/x", ("h.example",)),
        ("wget http://a.example/x http://b.example/y", ("a.example", "b.example")),
        ("ssh me@box.example ls", ("box.example",)),
        ("scp a me@box.example:/tmp", ("box.example",)),
        ("git clone https://git.example/x.git", ("git.example",)),
        ("git clone git@git.example:x/y.git", ("git.example",)),
        ("rsync -a a me@box.example:b", ("box.example",)),
        ("curl https://$HOST/x", ()),
        ("ls", ()),
    ],
)
def test_hosts_are_those_a_command_names(command: str, hosts: tuple[str, ...]) -> None:
    assert classify(command).hosts == hosts


# ── self-governance ──────────────────────────────────────────────────────────

PERSONS = [
    "approve 1",
    "reject 1 --reason x",
    "reset",
    "trust",
    "config set a b",
    "intent new x",
    "intent edit x",
    "intent activate x",
    "intent close x",
    "intent delegate INT-1 --to w",
    "install claude-code",
    "uninstall claude-code",
    "init --yes",
    "journal verify",
    "shadow override",
    "memory approve x",
    "bridge approve x",
    "models pull x",
    "hook claude-code",
    "frobnicate",
    "--config x status",
]
SPELLINGS = [
    "tether {}",
    "/usr/local/bin/tether {}",
    "./.venv/bin/tether {}",
    "python -m tether {}",
    "python3 -I -m tether {}",
    "uvx tether {}",
    "uvx --from tether tether {}",
    "pipx run tether {}",
    "uv run tether {}",
    "poetry run tether {}",
    "env A=b tether {}",
    "sudo tether {}",
    "nohup tether {} &",
    "bash -c 'tether {}'",
    "ls && tether {}",
    "echo $(tether {})",
    "t=tether; $t {}",
    "te'th'er {}",
    "\\tether {}",
    "eval tether {}",
    "echo y | tether {}",
    "xargs tether {}",
    "find . -exec tether {} ';'",
    "timeout 5 nice tether {}",
    "f() {{ tether {}; }}; f",
    "python3 -c \"import os; os.system('tether {}')\"",
    "{{ tether {}; }} > /dev/null",
    "if true; then tether {}; fi",
    "echo tether {} | sh",
    "sh <<< 'tether {}'",
    "npx -c 'tether {}'",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_an_agent_cannot_lift_its_own_limits_however_it_is_spelled(spelling: str) -> None:
    for words in PERSONS:
        risk = classify(spelling.format(words))
        assert risk.governs_tether, spelling.format(words)
        assert risk.level != "SAFE"


def test_what_governs_is_named_by_its_sub_command() -> None:
    assert classify("tether approve 12").governs_tether == "approve"
    assert classify("tether config set a b").governs_tether == "config set"
    assert classify("tether intent new x").governs_tether == "intent new"
    assert classify("python -I /opt/tether/edges/hooks/entry.py claude-code").governs_tether == "hook"


def test_an_agents_own_sub_commands_are_its_to_use() -> None:
    for sub in ALLOWED:
        risk = classify(f"tether {sub}")
        assert (risk.governs_tether, risk.level) == ("", "SAFE"), sub
    assert classify("tether intent select INT-001 --session s").level == "SAFE"
    assert classify("tether search 'approve'").level == "SAFE"


@given(st.text(max_size=30))
def test_any_other_sub_command_is_a_persons(word: str) -> None:
    risk = classify("tether '" + word.replace("'", "") + "'")
    assert risk.governs_tether or word.replace("'", "") in ALLOWED or not word.replace("'", "")


# ── what must hold for any text ──────────────────────────────────────────────

WRAPPERS = [
    "sudo {}",
    "env A=b {}",
    "bash -c {q}",
    "sh -lc {q}",
    "( {} )",
    "{{ {}; }}",
    "echo $( {} )",
    "echo `{}`",
    "true && {}",
    "false || {}",
    "ls; {}",
    "{} | cat",
    "ls | {}",
    "nohup {}",
    "timeout 5 {}",
    "nice -n 5 {}",
    "if true; then {}; fi",
    "for i in 1 2; do {}; done",
    "while false; do {}; done",
    "f() {{ {}; }}; f",
    "{} 2>/dev/null",
    "{} > /dev/null &",
    "eval {q}",
    "trap {q} EXIT",
    "time {}",
    "xargs -I X sh -c {q}",
    "find . -exec sh -c {q} ';'",
    "echo {q} | sh",
    "ssh host {q}",
    'X={q}; eval "$X"',
    "cat <<EOF\n$( {} )\nEOF",
    "sh <<'EOF'\n{}\nEOF",
    "[[ -n $( {} ) ]]",
    "x=$( {} )",
    "diff <( {} ) /dev/null",
    "watch {q}",
]


def wrap(template: str, command: str) -> str:
    if "`" in template and ("`" in command or "\\" in command):
        return command  # inner backticks would need escaping
    quoted = "'" + command.replace("'", "'\\''") + "'"
    return template.format(command, q=quoted)


LINES = [
    command for command in DESTRUCTIVE if "\n" not in command and "#" not in command and "`" not in command
]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(LINES), st.lists(st.sampled_from(WRAPPERS), min_size=1, max_size=4))
def test_no_nest_of_wrappers_makes_a_destructive_command_safe(command: str, nest: list[str]) -> None:
    for template in nest:
        command = wrap(template, command)
    assert classify(command).level != "SAFE"


PREFIXES = [
    "sudo {}",
    "env A=b {}",
    "nohup {}",
    "timeout 5 {}",
    "nice -n 5 {}",
    "time {}",
    "bash -c {q}",
    "watch {q}",
]
# a here-document must end on a line of its own, which nothing wrapped around it on one line would leave it
AROUND = [t for t in WRAPPERS if t not in PREFIXES and t != "{} | cat" and "<<" not in t]


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["rm -rf x", "git reset --hard", "dd if=/dev/zero of=/dev/sda", "npm publish"]),
    st.lists(st.sampled_from(PREFIXES), max_size=3),
    st.lists(st.sampled_from(AROUND), max_size=2),
)
def test_plain_destruction_is_seen_through_wrappers(
    command: str, prefixes: list[str], around: list[str]
) -> None:
    for template in [*prefixes, *around]:
        command = wrap(template, command)
    assert classify(command).level == "DESTRUCTIVE"


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(SAFE), st.sampled_from(DESTRUCTIVE), st.sampled_from(["; ", " && ", "\n", " || ", " | "])
)
def test_a_list_is_as_bad_as_its_worst_part(safe: str, destructive: str, operator: str) -> None:
    if "\n" in safe or "#" in safe:
        return
    assert classify(safe + operator + destructive).level != "SAFE"


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
@example("\ue000")
@example("\ud800")
def test_no_text_makes_classify_raise_and_the_answer_is_always_the_same(text: str) -> None:
    risk = classify(text)
    assert isinstance(risk, Risk)
    assert risk.level in ("SAFE", "UNKNOWN", "DESTRUCTIVE")
    assert risk == classify(text)
    assert not risk.read_only or risk.level == "SAFE"


WORDS = st.sampled_from(
    [
        *sorted(_index()),
        "-rf",
        "-c",
        "'",
        '"',
        "$(",
        ")",
        "x",
        "|",
        ";",
        "&&",
        ">",
        "<<<",
        "{}",
        "--",
        "-i",
        "a=b",
        "$x",
        "*",
        "~",
        "\\;",
        "`",
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(WORDS, max_size=8).map(" ".join))
def test_no_arguments_make_a_judge_raise(text: str) -> None:
    assert classify(text).level in ("SAFE", "UNKNOWN", "DESTRUCTIVE")


@pytest.mark.parametrize(
    "text",
    [
        "$(" * 20000,
        "(" * 60000,
        "sudo " * 12000 + "rm x",
        "bash -c '" * 5000,
        "a=$a$a;" * 9000,
        "a=xx; " + "a=$a$a; " * 5000 + "$a",
        "echo " + "{a,b}" * 10000,
        "echo " + "{" * 30000,
        "f(){ g; g; }; g(){ h; h; }; h(){ i; i; }; i(){ j; j; }; j(){ k; k; }; f; " * 800,
        "x | " * 16000 + "x",
        "for a in 1 2 3; do " * 3000,
        "echo $(echo " * 50 + "a" + ")" * 50,
        'eval "' * 20000,
        "if " * 20000,
        "cat <<E\n" * 8000,
        "echo " + "a" * 60000 + " | base64 -d | sh",
        "tr 'a-\U0010ffff' 'b-\U0010ffff' <<< x | sh; " * 1000,
        "sed '" + "s/a/b/;" * 9000 + "'",
        "find . " + "-exec a {} ; " * 4000,
    ],
)
def test_hostile_input_is_answered(text: str) -> None:
    assert classify(text[: 64 * 1024]).level != "SAFE" or text.startswith(("sed", "echo"))


# ── the user's own rules ─────────────────────────────────────────────────────


def test_a_user_rule_makes_things_stricter() -> None:
    rule = {
        "id": "team.no-curl",
        "match": "curl *",
        "level": "DESTRUCTIVE",
        "reason": "curl is not used here",
    }
    risk = classify("curl -s http://localhost/", [rule])
    assert (risk.level, risk.rules[0], risk.reasons[0]) == (
        "DESTRUCTIVE",
        "team.no-curl",
        "curl is not used here",
    )
    assert classify("sudo env A=b curl -s http://localhost/", [rule]).level == "DESTRUCTIVE"
    assert classify("ls", [rule]).level == "SAFE"


def test_a_user_rule_loosens_only_when_it_is_trusted() -> None:
    rule = {"id": "team.deploy", "match": "npm run deploy*", "level": "SAFE", "reason": "ours"}
    assert classify("npm run deploy:dev", [rule]).level == "UNKNOWN"
    assert classify("npm run deploy:dev", [rule], trusted=True).level == "SAFE"
    assert not classify("npm run deploy:dev", [rule], trusted=True).read_only
    assert classify("npm run deploy:dev; rm x", [rule], trusted=True).level == "DESTRUCTIVE"


def test_an_untrusted_rule_never_makes_destruction_safe() -> None:
    rule = {"id": "x", "match": "rm *", "level": "SAFE", "reason": "x"}
    assert classify("rm -rf x", [rule]).level == "DESTRUCTIVE"
    assert classify("rm -rf x", [rule], trusted=True).level == "SAFE"


def test_a_malformed_user_rule_tightens_or_does_nothing() -> None:
    for rule in ({}, {"match": ""}, {"match": "ls", "level": "purple"}, {"match": "[", "level": "SAFE"}):
        assert classify("rm x", [rule]).level == "DESTRUCTIVE"
    assert classify("ls", [{"match": "ls", "level": "purple"}]).level == "UNKNOWN"


def test_flags_of_a_user_pattern_match_in_any_order() -> None:
    rule = {"id": "x", "match": "kubectl get --all-namespaces", "level": "UNKNOWN", "reason": "too wide"}
    assert classify("kubectl --all-namespaces get pods", [rule]).level == "UNKNOWN"
    assert classify("kubectl get pods", [rule]).level == "SAFE"


# ── the tables ───────────────────────────────────────────────────────────────


def test_every_rule_of_every_table_is_well_formed() -> None:
    for family in FAMILIES:
        module = _load(family)
        for name, (valued, rules) in {**module.TOOLS, **readers.TOOLS}.items():
            assert isinstance(valued, str)
            for level, rule, pattern, reason in rules:
                assert level in ("R", "S", "U", "D", "X"), name
                assert rule and " " not in rule, name
                assert reason or level in ("R", "S"), (name, rule, pattern)
                assert not pattern.startswith("|"), (name, pattern)


def test_every_program_of_the_index_has_a_judge_or_a_table() -> None:
    for name, family in _index().items():
        module = _load(family)
        known = (
            name in module.JUDGES or name in module.TOOLS or name in readers.READERS or name in readers.TOOLS
        )
        assert known or classify(f"{name} x").level == "UNKNOWN", name


def test_classifying_a_plain_command_imports_little() -> None:
    code = (
        "import sys; sys.path[:] = " + repr(sys.path) + "; from tether.control.risk import classify;"
        "assert classify('ls -la src').read_only; assert classify('cat a | wc -l').read_only;"
        "heavy = {'typing', 'dataclasses', 'pathlib', 'tree_sitter._binding', 'ast', 'tether.control.commands.git',"
        " 'tether.control.commands.packages', 'subprocess', 'os.path_'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
