"""The parser of command lines: what bash understands it understands alike, and the rest is marked broken."""

import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tether.source.grammar import make_parser
from tether.source.shell import MAX_LENGTH, _Parser, parse, split_plain
from tether.source.shelltree import Compound, Script, Simple, scripts_of


def commands(script: Script) -> list[Simple | Compound]:
    """Every command of a tree, outermost first."""
    found: list[Simple | Compound] = []
    for step in script.steps:
        for command in step.pipeline.commands:
            found.append(command)
            words = [*command.words, *[r.target for r in command.redirects]]
            words += [body for r in command.redirects for body in r.body]
            if isinstance(command, Simple):
                words += [word for assignment in command.assignments for word in assignment.values]
            else:
                for body in command.bodies:
                    found += commands(body)
            for word in words:
                for part in word.parts:
                    for inner in scripts_of(part):
                        found += commands(inner)
    return found


def names(text: str) -> list[str | None]:
    """The first word of every simple command."""
    return [c.words[0].static for c in commands(parse(text)) if isinstance(c, Simple) and c.words]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a; b && c || d | e & f", ["a", "b", "c", "d", "e", "f"]),
        ("( a; { b; } )", ["a", "b"]),
        ("! a | time -p b", ["a", "b"]),
        ("a |& b", ["a", "b"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("while a; do b; done; until c; do d; done", ["a", "b", "c", "d"]),
        ("for x in $(a) b; do c; done", ["c", "a"]),
        ("for ((i=0; i<$(a); i++)); do b; done", ["b", "a"]),
        ("for x; do a; done", ["a"]),
        ("case $(a) in b|c) d;; (*) e ;& f) g;;& esac", ["d", "e", "g", "a"]),
        ("select x in a; do b; done", ["b"]),
        ("f() { a; }; function g { b; }; function h() ( c )", ["a", "b", "c"]),
        ("coproc a b; coproc NAME { c; }", ["a", "c"]),
        ("[[ -f $(a) && b =~ ^(c|d)$ ]] && e", ["a", "e"]),
        ("(( x = $(a) + `b` )) || c", ["a", "b", "c"]),
        ("((a); (b))", ["a", "b"]),
        ("echo $((16#ff)) $[1+1]", ["echo"]),
        ('a "$(b "$(c)")" `d \\`e\\``', ["a", "b", "c", "d", "e"]),
        ("a <(b) >(c) ${x:-$(d)} $((1+$(e)))", ["a", "b", "c", "d", "e"]),
        ("x=$(a) y=(b $(c)) d", ["d", "a", "c"]),
        ("declare -a x=(b $(c))", ["declare", "c"]),
        ("a > $(b) 2>&1 <<< $(c)", ["a", "b", "c"]),
        ("a <<E; b\n$(c)\nE\nd", ["a", "c", "b", "d"]),
        ("a <<'E'\n$(c)\nE", ["a"]),
        ("cat <<-A <<B\n\tx\n\tA\n$(y)\nB\nz", ["cat", "y", "z"]),
        ("a # b; c\nd", ["a", "d"]),
        ("a \\\n b; c", ["a", "c"]),
        ("2>x a 3<>y; >z; <in b", ["a", "b"]),
        ("{fd}>x a &>>y", ["a"]),
        ("echo @(a|b) !(c)", ["echo"]),
        ("time if a; then b; fi", ["a", "b"]),
    ],
)
def test_every_command_of_a_line_is_found(text: str, expected: list[str]) -> None:
    assert not parse(text).broken
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"""r\m 'r'm "r"m $'r\x6d' $"rm" \rm""", ["rm"] * 6),
        (r"""'a b'"c d"e\ f""", ["a bc de f"]),
        (r'''"a\"b\$c\\d\e"''', [r'a"b$c\d\e']),
        ("$'a\\tb\\n\\'\\\"\\u00e9\\101'", ["a\tb\n'\"éA"]),
        ("a\\\nb", ["ab"]),
        ("a#b #c", ["a#b"]),
        ('$ a$ "$"', ["$", "a$", "$"]),
    ],
)
def test_quotes_are_removed_as_the_shell_removes_them(text: str, words: list[str]) -> None:
    (command,) = parse(text).steps[0].pipeline.commands
    assert [word.static for word in command.words] == words


def test_redirects_keep_operator_descriptor_and_target() -> None:
    (command,) = parse("a >x 2>>y 3<z >|v &>w 2>&1 5<&- <<<here").steps[0].pipeline.commands
    assert [(r.fd, r.op, r.target.static) for r in command.redirects] == [
        ("", ">", "x"),
        ("2", ">>", "y"),
        ("3", "<", "z"),
        ("", ">|", "v"),
        ("", "&>", "w"),
        ("2", ">&", "1"),
        ("5", "<&", "-"),
        ("", "<<<", "here"),
    ]


def test_variables_keep_their_operators() -> None:
    (command,) = (
        parse("echo ${a:-b} ${c##*/} ${!d} ${#e} ${f[@]} ${g:1:2} ${h//x/y} ${i^^}")
        .steps[0]
        .pipeline.commands
    )
    parts = [word.parts[0] for word in command.words[1:]]
    assert [(p.text, p.op) for p in parts] == [
        ("a", ":-"),
        ("c", "##"),
        ("d", "!"),
        ("e", "#"),
        ("f", "[@]"),
        ("g", ":"),
        ("h", "//"),
        ("i", "^^"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a )",
        "a; )",
        "(a",
        "{ a",
        "if a; then b",
        "for x in a; do b",
        "case x in a) b;;",
        "'a",
        '"a',
        "`a",
        "$(a",
        "${a",
        "a <<E\nx",
        "a <<E",
        "a &&",
        "a |",
        "a >",
        "f() a",
        "fi",
        "a ;; b",
        "[[ a",
        "a\0b",
        "x" * (MAX_LENGTH + 1),
        "$(" * 500 + "a" + ")" * 500,
        "(" * 5000,
        "`" * 9999,
        '"$(' * 300,
        "a\n}",
    ],
)
def test_what_is_not_understood_is_marked_broken(text: str) -> None:
    assert parse(text).broken


def test_what_came_before_the_break_is_kept() -> None:
    script = parse("rm -rf x; )")
    assert script.broken
    assert names("rm -rf x; )") == ["rm"]


@settings(max_examples=300)
@given(st.text(max_size=200))
@example("((")
@example("$((")
@example("$'\\")
@example("<<")
@example("\\")
def test_no_text_makes_the_parser_raise(text: str) -> None:
    assert isinstance(parse(text), Script)


SHELLISH = st.lists(
    st.sampled_from(
        [
            *"abc'\"\\$`(){}[]<>|&;\n\t #=*?~!,.:-+@%",
            "$(",
            "${",
            "$((",
            "))",
            "<<",
            "<<E\n",
            "E\n",
            "if ",
            "then ",
            "fi",
            "for ",
            "in ",
            "do ",
            "done",
            "case ",
            "esac",
            "[[ ",
            " ]]",
            "&&",
            "||",
            ";;",
            "2>",
            "function ",
        ]
    )
).map("".join)


@settings(max_examples=500)
@given(SHELLISH)
def test_no_piece_of_shell_syntax_makes_the_parser_raise(text: str) -> None:
    assert isinstance(parse(text), Script)


PLAIN = st.lists(st.text("abcAZ09_./=:@%+,-", min_size=1, max_size=6), min_size=1, max_size=6).map(" ".join)


@settings(max_examples=300)
@given(PLAIN)
def test_the_fast_path_and_the_parser_agree(text: str) -> None:
    words = split_plain(text)
    if words is None:
        return
    script = _Parser(text, 0).parse_all()
    assert not script.broken
    (command,) = script.steps[0].pipeline.commands
    assert isinstance(command, Simple)
    assert not command.assignments and not command.redirects
    assert [word.static for word in command.words] == words


def test_words_of_syntax_never_take_the_fast_path() -> None:
    for text in ("if a", "for x in y", "A=1 b", "time a", "! a", "a;b", "a  b", " a", "a ", "", "done"):
        assert split_plain(text) is None


QUOTED = st.lists(
    st.sampled_from(
        [
            "a",
            "b",
            "-",
            "/",
            "'x y'",
            '"p q"',
            "\\ ",
            "\\$",
            "$'\\t'",
            "$'\\x41'",
            '""',
            "''",
            '"\\$"',
            '"\\a"',
            "\\a",
            "=",
            ":",
        ]
    ),
    min_size=1,
    max_size=8,
).map("".join)


@settings(max_examples=150, deadline=None)
@given(st.lists(QUOTED, min_size=1, max_size=5))
def test_static_words_are_what_bash_makes_of_them(words: list[str]) -> None:
    line = "printf '%s\\0' - " + " ".join(words)
    real = (
        subprocess.run(["bash", "-c", line], capture_output=True, check=True)
        .stdout.decode()
        .split("\0")[1:-1]
    )
    (command,) = parse(line).steps[0].pipeline.commands
    ours = [word.static for word in command.words[3:]]
    assert ours == real


@pytest.mark.parametrize(
    "text",
    [
        "git log --oneline | head -5 && cat 'a b' > /dev/null",
        'for f in *.py; do grep -n x "$f" || echo no; done',
        "if [ -f a ]; then cat a; else ls; fi; x=$(pwd) env",
        'f() { ls "$1"; }; f src; (cd a && make)',
        "case $x in a) ls;; *) pwd;; esac; while read l; do echo $l; done < f",
    ],
)
def test_an_independent_grammar_finds_the_same_commands(text: str) -> None:
    found = []

    def visit(node: object) -> None:
        if node.type == "command_name":  # type: ignore[attr-defined]
            found.append(node.text.decode())  # type: ignore[attr-defined]
        for child in node.children:  # type: ignore[attr-defined]
            visit(child)

    visit(make_parser("bash").parse(text.encode()).root_node)
    assert sorted(name for name in names(text) if name != "[") == sorted(found)
