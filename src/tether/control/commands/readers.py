"""Programs that only look, and project tools that only check or build. Data. HOOK PATH."""
# ruff: noqa: E501 — a rule reads best on one line

from __future__ import annotations

# change nothing, whatever their arguments
READERS = frozenset(
    "ls dir vdir cat head tail wc grep egrep fgrep zgrep bzgrep xzgrep nl tac rev cut paste join"
    " comm fold fmt expand unexpand column pr od hexdump hd strings file stat du df basename"
    " dirname realpath readlink pwd echo true false test [ : seq cal uptime whoami id groups who w"
    " last users uname arch nproc lscpu lsblk lsusb lspci lsmod free vmstat iostat mpstat ps pgrep"
    " pidof pstree printenv locale which whereis whatis apropos md5sum sha1sum sha224sum sha256sum"
    " sha384sum sha512sum b2sum b3sum cksum sum cmp diff colordiff diff3 jq gron exa eza lsd tokei"
    " scc loc tput clear sleep usleep expr factor numfmt tsort tr zcat zdiff zcmp bzcat xzcat"
    " zstdcat lz4cat getent getconf tty lsof netstat nm objdump readelf size otool addr2line"
    " c++filt hexyl glow tldr cowsay figlet pdftotext identify mediainfo ffprobe shellcheck"
    " hadolint yamllint actionlint pyflakes pycodestyle pydocstyle vulture radon pyright"
    " basedpyright checkov tflint kubeval kubeconform golint staticcheck errcheck go-critic dig"
    " nslookup host whois sw_vers system_profiler lsb_release dmidecode acpi sensors safety"
    " ldconfig-p zipinfo jsonlint markdownlint yes ccache-stats sloccount help".split()
)
# readers whose operands are files, and their options with values
OF_FILES = {
    "cat": "",
    "head": "-n -c --lines --bytes",
    "tail": "-n -c --lines --bytes",
    "wc": "",
    "nl": "-b -w -s",
    "tac": "-s",
    "rev": "",
    "strings": "-n",
    "file": "",
    "stat": "-c --format --printf -f",
    "md5sum": "",
    "sha1sum": "",
    "sha256sum": "",
    "sha512sum": "",
    "cksum": "",
    "od": "-A -t -N -j -w",
    "hexdump": "-n -s -e",
    "diff": "-U -C --label -x -I --exclude",
    "cmp": "-n -i",
    "zcat": "",
    "ls": "-I --ignore",
    "du": "-d --max-depth --exclude",
    "tree": "-L -I -P",
}
# tools of a project that check, test, format or compile: they run the project's own code or write its outputs
SAFE_TOOLS = frozenset(
    "pytest py.test black isort flake8 mypy pylint bandit autopep8 yapf autoflake pyupgrade"
    " docformatter interrogate tsc eslint prettier jest vitest mocha ava tap c8 nyc stylelint"
    " biome rollup webpack esbuild swc tsup svelte-check vue-tsc standard xo oxlint tslint"
    " lint-staged size-limit publint attw tsd rustc rustfmt clippy-driver gofmt goimports"
    " golangci-lint gotestsum gofumpt ginkgo mockgen stringer gcc g++ clang clang++ cc c++ cpp ld"
    " as clang-format clang-tidy cppcheck cpplint ranlib strip javac kotlinc scalac ktlint detekt"
    " google-java-format rspec rubocop standardrb brakeman erb_lint minitest phpunit phpstan psalm"
    " phpcs phpcbf pest php-cs-fixer mypyc ormolu hlint fourmolu shfmt shellharden semgrep typos"
    " protoc buf sphinx-build asciidoctor pandoc ctags etags codespell cloc license-checker madge"
    " pip-audit commitlint markdownlint-cli2 remark alex vale djlint curlylint stubtest stubgen"
    " lint-imports deptry creosote pip-compile pip-check pydoc doctest unittest nosetests trial"
    " behave robot locust ncc parcel karma jasmine cucumber cucumber-js godot-lint buildifier"
    " nimble-test swiftlint swiftformat dartfmt elm-test elm-format hatch-build pyproject-build"
    " djhtml taplo dprint rome deadcode knip depcheck ts-prune npm-check lychee djangolint reuse"
    " licensecheck trivy grype syft gitleaks trufflehog detect-secrets lcov gcov gcovr genhtml"
    " llvm-cov bloaty objcopy ajv spectral openapi-generator-cli graphql-codegen relay-compiler"
    " sass tailwindcss postcss terser html-validate pa11y lighthouse storybook-build bundlesize"
    " wasm-pack-build gofumports revive govulncheck gosec nilaway cargo-nextest nextest insta"
    " mutmut cosmic-ray xdist ty pyre pytype".split()
)
OUTPUT_OPTIONS = "-o --output --outfile --outDir --out --output-file --out-dir --outdir --outFile --dest"
_UNSAFE = (
    ("U", "plugin", "-fplugin|-wrapper|-Xclang|--plugin-dir", "loads code from a file"),
    ("U", "config", "--eval|--exec|--command", "runs a command given as an option"),
)
# known by name, so that `--version` and `--help` of them are
NAMES = frozenset(
    "javac jar jshell tsserver code cursor ffmpeg convert magick gcloud protoc sops age gpg".split()
)

Rules = tuple[tuple[str, str, str, str], ...]
TOOLS: dict[str, tuple[str, Rules]] = dict.fromkeys(
    sorted(SAFE_TOOLS), (OUTPUT_OPTIONS, (("S", "project", "", ""), *_UNSAFE))
)
# fmt: off
TOOLS |= {
    "man": ("-P -S -s -k", (("R", "read", "", ""), ("X", "pager", "-P|--pager|-H|--html", "`man -P` runs a program"))),
    "info": ("-o --output", (("R", "read", "", ""), ("U", "output", "-o|--output", "`info -o` writes a file"))),
    "xmllint": ("-o --output", (("R", "read", "", ""), ("U", "output", "-o|--output", "`xmllint -o` writes a file"))),
    "top": ("-n -p -u -d", (("R", "read", "", ""),)),
    "htop": ("", (("R", "read", "", ""),)),
    "ldd": ("", (("S", "read", "", ""),)),
    "ss": ("", (("R", "read", "", ""), ("D", "kill", "-K|--kill", "`ss -K` closes other programs' connections"))),
    "pytest": (
        "-k -m -n -p -c --maxfail --cov --cov-report --junitxml --basetemp --rootdir -o --tb --durations --timeout"
        " --ignore --deselect --confcutdir --dist",
        (
            ("S", "run", "", ""),
            ("U", "basetemp", "--basetemp", "`pytest --basetemp` empties the folder it names"),
            ("U", "plugin", "-p", "`pytest -p` loads code by name"),
        ),
    ),
    "eslint": ("--config -c --ext --format -f -o --output-file --rulesdir --resolve-plugins-relative-to",
        (("S", "run", "", ""), ("U", "rules", "--rulesdir", "`eslint --rulesdir` loads code from a folder"))),
    "gcc": ("-o -I -L -l -D -include -x -MF -MT", (("S", "run", "", ""), ("U", "wrapper", "-wrapper", "runs another program"))),
    "pandoc": ("-o -f -t --filter -F --lua-filter",
        (("S", "run", "", ""), ("U", "filter", "--filter|-F|--lua-filter", "`pandoc` filters are programs"))),
}
# fmt: on
