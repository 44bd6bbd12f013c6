"""Containers, clouds, services, disks and accounts. HOOK PATH."""
# ruff: noqa: E501 — a rule reads best on one line

from __future__ import annotations

import re

from tether.control.commands import options
from tether.control.commands.wrappers import run_rest
from tether.control.expansion import ANY, SOME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tether.control.commands.readers import Rules
    from tether.control.risk import Feed, Scan

_GONE = "deletes something that others may use"
_CLOUD = "changes something in the cloud"
_STARTS = "starts programs whose contents are not known"
_DISK = "changes a disk or a file system"
_SYSTEM = "changes this machine's settings"
_STOPS = "stops this machine or what runs on it"


def judge_docker(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """docker: the table, and the command run inside a container."""
    from tether.control.commands import judge_tool

    valued = "-H --host --context --config -l --log-level -c --connection"
    parsed = options.parse(args, valued, stop=True)
    rest = parsed.operands
    if rest[:1] in (["container"], ["image"]) and len(rest) > 1:
        rest = (
            rest[1:]
            if rest[1] in ("run", "exec", "ls", "ps", "logs", "inspect", "rm", "stop", "kill", "cp", "start")
            else rest
        )
    if rest[:1] == ["compose"]:
        judge_compose(scan, name, rest[1:], feed)
        return
    judge_tool(scan, "docker", ("-f -n --filter --format -t --tag --file --last", DOCKER), rest)
    if rest[:1] in (["run"], ["exec"]):
        judge_inside(scan, rest[0], rest[1:], feed)


RUN_OPTIONS = (
    "-v -e -p -w -u -m -h -l -a -c --volume --env --publish --workdir --user --name --network --net --mount --entrypoint --env-file"
    " --memory --cpus --hostname --label --platform --restart --add-host --cap-add --device --gpus --ip --pid --ipc --security-opt"
    " --shm-size --tmpfs --ulimit --volumes-from --log-driver --pull --index --scale"
)


def judge_inside(scan: Scan, how: str, args: list[str], feed: Feed) -> None:
    """The command a container would run."""
    parsed = options.parse(args, RUN_OPTIONS, stop=True)
    mounts = parsed.values("-v|--volume|--mount")
    if any(re.match(r"/:|/(?:etc|var|root|home|usr)?:|.*source=/,", mount) for mount in mounts) or parsed.has(
        "--privileged"
    ):
        scan.note("U", "risk.docker.mount", "gives a container the whole machine")
        exposed = True
    else:
        exposed = any(mount.startswith(("/", ".", "~", SOME, ANY)) or "=" in mount for mount in mounts)
    inner = parsed.operands[1:]
    entry = parsed.values("--entrypoint")
    if entry and inner:
        inner = [entry[0], *inner]
    if inner and (exposed or how == "exec"):
        run_rest(scan, "docker", inner, feed)


def judge_compose(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    from tether.control.commands import judge_tool

    valued = "-f --file -p --project-name --profile --env-file --project-directory"
    parsed = options.parse(args, valued, stop=True)
    judge_tool(scan, "compose", ("-t --timeout --scale --tail -n", COMPOSE), parsed.operands)
    if parsed.operands[:1] in (["run"], ["exec"]):
        judge_inside(scan, "exec", parsed.operands[1:], feed)


def judge_kubectl(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    from tether.control.commands import judge_tool

    valued = (
        "-n --namespace --context --kubeconfig --cluster --user -o --output -l --selector -f --filename -c --container --tail --since"
        " --field-selector --sort-by --as --server -s --token --timeout --replicas --type -p --patch -k --kustomize"
    )
    judge_tool(scan, "kubectl", (valued, KUBECTL), args)
    if "--" in args and options.parse(args, valued, stop=True).operands[:1] in (["exec"], ["run"], ["debug"]):
        run_rest(scan, name, args[args.index("--") + 1 :], feed)


def judge_aws(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """Cloud command lines: the verb decides, whatever the service."""
    valued = "--profile --region --output --query --endpoint-url --project --zone --format --filter --account -g -n -o --resource-group --name --subscription"
    parsed = options.parse(args, valued)
    words = parsed.operands
    text = " ".join(words).lower()
    verbs = re.findall(r"[a-z0-9]+", text)
    if name in ("gsutil",) and words[:1] in (["rm"], ["rb"], ["rsync"], ["mv"]):
        scan.note("D", f"risk.{name}.delete", _GONE)
    elif name == "aws" and words[:1] == ["s3"]:
        if words[1:2] in (["rm"], ["rb"], ["mv"]) or parsed.has("--delete"):
            scan.note("D", "risk.aws.s3-delete", _GONE)
        else:
            scan.note(
                "S" if words[1:2] == ["ls"] else "U", "risk.aws.s3", "" if words[1:2] == ["ls"] else _CLOUD
            )
    elif any(verb in DESTROYING for verb in verbs[:6]):
        scan.note("D", f"risk.{name}.delete", _GONE)
    elif any(
        re.fullmatch(
            r"(?:describe|list|get|show|head|lookup|search|tail|ls|cat|stat|du|hash|version|info|whoami|help|print|validate|estimate)(?:[-_][\w-]+)?",
            word,
        )
        for word in words[:4]
    ) and not any(
        word
        in (
            "create",
            "update",
            "set",
            "add",
            "put",
            "run",
            "start",
            "stop",
            "invoke",
            "deploy",
            "secret",
            "secrets",
            "get-secret-value",
            "get-parameter",
            "get-login-password",
            "print-access-token",
            "get-credentials",
        )
        for word in words[:4]
    ):
        scan.note("S", f"risk.{name}.read")
    else:
        scan.note("U", f"risk.{name}.change", _CLOUD)
    if parsed.loose:
        scan.note("U", "risk.shell.options", f"cannot tell what `{name}` is asked to do")


DESTROYING = frozenset(
    "delete deletes terminate destroy purge remove deregister rb disable detach revoke release"
    " reset rm drop wipe flush teardown down undeploy cancel deprovision".split()
)


def judge_kill(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """Signals: listing looks, 0 asks, the rest stops programs."""
    if args[:1] in (["-l"], ["-L"], ["--list"]) or args[:1] == ["-0"] or args[:2] == ["-s", "0"]:
        scan.note("R", "risk.read.kill")
    elif (
        name != "kill"
        or re.search(r"-(?:9|KILL|SIGKILL)\b|-s (?:9|KILL|SIGKILL)", " ".join(args), re.I)
        or "-1" in args
    ):
        scan.note("D", f"risk.system.{name}", f"`{name}` ends running programs")
    elif args and all(
        re.fullmatch(r"%\d*|-(?:TERM|INT|HUP|15|2|1|USR1|SIGTERM|SIGINT)|[%$]?!?", a) for a in args
    ):
        scan.note("S", "risk.system.kill-job")
    else:
        scan.note("U", "risk.system.kill", "`kill` ends running programs")


def judge_at(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    if args[:1] in (["-l"], ["-c"]):
        scan.note("R", f"risk.system.{name}-list")
        return
    scan.note("U", f"risk.system.{name}", "runs commands later, when nobody looks")
    if args[:1] in (["-d"], ["-r"]):
        scan.note("D", f"risk.system.{name}-remove", "removes planned jobs")
    if feed.text is not None and feed.origin == "static":
        scan.read_script(feed.text)


def judge_crontab(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    parsed = options.parse(args, "-u")
    if parsed.has("-l"):
        scan.note("R", "risk.system.crontab-list")
    elif parsed.has("-r"):
        scan.note("D", "risk.system.crontab-remove", "removes all planned jobs")
    else:
        scan.note("D", "risk.system.crontab", "replaces all planned jobs")


def judge_terminal(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """tmux and screen start commands that go on without the shell."""
    parsed = options.parse(args, "-s -t -n -c -S -L -f -x -y -e -F -p -h")
    words = parsed.operands
    if (
        words[:1]
        and words[0]
        in (
            "ls",
            "list-sessions",
            "capture-pane",
            "list-windows",
            "list-panes",
            "display-message",
            "has-session",
            "info",
            "show-options",
        )
    ) or parsed.has("-ls|-list"):
        scan.note("R", f"risk.system.{name}-list")
        return
    if (
        words[:1] and words[0] in ("kill-server", "kill-session", "kill-window", "kill-pane")
    ) or "quit" in words:
        scan.note("D", f"risk.system.{name}-kill", "ends running programs")
    scan.note("U", f"risk.system.{name}", "starts or steers programs in another terminal")
    for text in [w for w in words[1:] if w not in ("Enter", "C-m")]:
        from tether.control.commands.code import keep_destruction

        keep_destruction(scan, text)
    if name == "screen" and words:
        from tether.control.commands.code import keep_destruction

        keep_destruction(scan, " ".join(words))


def judge_date(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    parsed = options.parse(args, "-d -s -f -r -I -v -j --date --set --reference")
    if (
        parsed.has("-s|--set")
        or (name == "hostname" and parsed.operands)
        or any(re.fullmatch(r"\d{8,}(\.\d+)?", o) for o in parsed.operands)
    ):
        scan.note("D", f"risk.system.{name}", _SYSTEM)
    else:
        scan.note("R", f"risk.read.{name}")


def judge_ip(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    words = [arg for arg in args if not arg.startswith("-")]
    if (
        any(
            word in ("add", "del", "delete", "flush", "set", "change", "replace", "up", "down")
            for word in words
        )
        or (name == "ifconfig" and len(words) > 1)
        or (name == "route" and words[:1] not in ([], ["-n"]))
    ):
        scan.note("D", f"risk.system.{name}", "changes this machine's network")
    else:
        scan.note("R", f"risk.read.{name}")


def _always(level: str, reason: str) -> tuple[str, Rules]:
    return ("", ((level, "run", "", reason),))


# fmt: off
DOCKER: Rules = (
    ("R", "read", "ps|ls|images|logs|inspect|version|info|top|stats|port|diff|history|search|events|help|--version", ""),
    ("R", "read", "image|container|volume|network|context|system|builder|node|service|stack|secret|config|manifest|plugin|buildx ls|list|inspect|df|history|info|events|logs|ps|show|du", ""),
    ("S", "build", "build", ""), ("S", "build", "buildx|image|builder build|bake", ""), ("U", "push", "build|buildx --push|--output|-o", "publishes an image or writes files"),
    ("U", "run", "run|exec|start|stop|restart|create|pull|tag|cp|commit|save|load|import|export|rename|update|attach|wait|pause|unpause|login|logout|kill", _STARTS),
    ("D", "remove", "rm|rmi|prune", "deletes containers or images"),
    ("D", "remove", "container|image|volume|network|system|builder|context|node|service|stack|secret|config|buildx|swarm|plugin rm|remove|prune|leave", "deletes containers, images, volumes or networks"),
    ("D", "push", "push", "publishes an image"), ("D", "kill", "kill", "stops containers at once"), ("D", "swarm", "swarm leave", "leaves the cluster"),
)
COMPOSE: Rules = (
    ("R", "read", "ps|logs|config|images|ls|top|version|port|events|convert|stats|volumes", ""), ("S", "build", "build", ""),
    ("U", "run", "up|run|exec|start|stop|restart|pull|create|cp|pause|unpause|watch|down|kill|push", _STARTS),
    ("D", "down", "down -v|--volumes|--rmi", "deletes volumes or images"), ("D", "rm", "rm", "deletes containers"), ("D", "recreate", "up --force-recreate|-V|--renew-anon-volumes", "replaces containers and their volumes"),
)
KUBECTL: Rules = (
    ("S", "read", "get|describe|logs|top|explain|version|cluster-info|api-resources|api-versions|diff|wait|events|kustomize|help|options|completion", ""),
    ("S", "read", "config view|get-contexts|current-context|get-clusters|get-users", ""), ("S", "read", "auth can-i|whoami", ""), ("S", "read", "rollout status|history", ""),
    ("D", "delete", "delete|drain|replace|cordon|taint|evict", "deletes or moves what runs in the cluster"), ("U", "secret", "get secret|secrets", "reads secrets"),
    ("D", "scale", "scale --replicas=0", "stops what runs in the cluster"), ("D", "prune", "apply --prune|--force", "deletes what runs in the cluster"), ("D", "undo", "rollout undo", "replaces what runs in the cluster"),
    ("S", "dry", "apply|create|run|delete --dry-run=client", ""),
    ("U", "change", "apply|create|edit|patch|set|label|annotate|expose|run|exec|cp|port-forward|proxy|scale|rollout|autoscale|attach|debug|config", "changes what runs in the cluster"),
)
_TERRAFORM: Rules = (
    ("S", "read", "validate|fmt|version|show|output|graph|providers|console-help|get", ""), ("S", "plan", "plan !-destroy|-out", ""), ("U", "plan", "plan", "asks the cloud, with your rights"),
    ("R", "state", "state list|show|pull", ""), ("R", "workspace", "workspace list|show", ""), ("U", "init", "init|import|refresh|login|console|test|apply", _CLOUD),
    ("D", "destroy", "destroy|taint|untaint|force-unlock", "destroys infrastructure"), ("D", "apply", "apply -auto-approve|--auto-approve|-destroy|--destroy|-replace", "changes infrastructure without asking"),
    ("D", "state", "state rm|mv|push|replace-provider", "changes what terraform believes exists"), ("D", "workspace", "workspace delete", "deletes a workspace"), ("D", "run-all", "run-all|run destroy|apply", "destroys infrastructure"),
)
_HELM: Rules = (
    ("S", "read", "list|ls|status|history|get|show|template|lint|version|env|search|verify|dependency", ""), ("S", "read", "repo|plugin|dependency list", ""), ("U", "change", "install|upgrade|repo|pull|package|create|test|plugin|dependency add|update|build|install", _CLOUD),
    ("U", "change", "install|upgrade|pull|package|create|test", _CLOUD), ("D", "uninstall", "uninstall|delete|del|un|rollback", "removes what runs in the cluster"), ("D", "force", "upgrade --force|--reset-values", "replaces what runs in the cluster"), ("D", "remove", "repo|plugin remove|uninstall", "removes software"), ("D", "push", "push", "publishes a chart"),
)
_DEPLOY: Rules = (
    ("S", "read", "list|ls|status|info|whoami|logs|version|inspect|--version|releases|ps|show|doctor|open|tail", ""), ("S", "read", "apps|app|deployments|env|domains|projects|sites|functions|config|addons|machine|machines|volumes|secrets|releases list|ls|info|show|status", ""),
    ("U", "deploy", "deploy|dev|build|link|init|pull|login|logout|up|run|start|scale|restart|serve|emulators:start", _CLOUD),
    ("D", "destroy", "remove|rm|destroy|delete|down|apps:destroy|pg:reset|rollback|alias|promote|addons:destroy|firestore:delete|functions:delete|hosting:disable|database:remove|disable", _GONE),
    ("D", "destroy", "* destroy|delete|remove|rm|reset|rollback|purge", _GONE), ("D", "prod", "--prod|--production", "changes what the public sees"),
    ("D", "reset", "db reset", "empties a database"),
)
TOOLS: dict[str, tuple[str, Rules]] = {
    "helm": ("-n --namespace --kube-context -f --values --set --version", _HELM),
    "terraform": ("!-chdir -var -var-file -target -out -backend-config -state", _TERRAFORM),
    "pulumi": ("-s --stack -C --cwd", (("S", "read", "preview|stack|whoami|version|logs|config|about|history", ""), ("U", "up", "up|update|refresh|import|new|login|config|stack", _CLOUD), ("D", "destroy", "destroy|cancel", "destroys infrastructure"), ("D", "yes", "up|update|refresh --yes|-y|--skip-preview", "changes infrastructure without asking"), ("D", "stack-rm", "stack|config rm", "destroys infrastructure"), ("D", "state", "state delete", "changes what pulumi believes exists"))),
    "ansible": ("-m -a -i -u -e --module-name --args", (("U", "run", "", "runs on other machines"), ("S", "list", "--list-hosts|--version", ""))),
    "ansible-playbook": ("-i -u -e -l -t", (("S", "check", "--syntax-check|--list-tasks|--list-hosts|--version|--list-tags", ""), ("U", "run", "!--syntax-check|--list-tasks|--list-hosts|--list-tags", "runs on other machines"))),
    "vagrant": ("", (("R", "read", "status|global-status|version|port|ssh-config|validate", ""), ("D", "destroy", "destroy", "deletes a virtual machine"), ("D", "box", "box remove|prune", "deletes images"), ("D", "snapshot", "snapshot delete|restore|pop", "deletes or restores snapshots"))),
    "packer": ("", (("S", "check", "validate|fmt|inspect|version", ""), ("U", "build", "build|init", _CLOUD))),
    "minikube": ("-p", (("R", "read", "status|ip|version|profile|logs|service|addons", ""), ("U", "start", "start|stop|addons|service|tunnel|ssh|mount|image|profile", _STARTS), ("D", "delete", "delete", "deletes a cluster"))),
    "kind": ("--name", (("R", "read", "get|version|export", ""), ("U", "create", "create|load|build", _STARTS), ("D", "delete", "delete", "deletes a cluster"))),
    "eksctl": ("", (("S", "read", "get|info|version|utils", ""), ("D", "delete", "delete|drain", _GONE))),
    "skaffold": ("", (("S", "check", "render|diagnose|version|build", ""), ("D", "delete", "delete", _GONE))),
    "kustomize": ("", (("R", "build", "build|version|cfg", ""), ("U", "edit", "edit|create", "rewrites files"))),
    "argocd": ("", (("S", "read", "app|cluster|repo|proj list|get|diff|history|logs", ""), ("D", "delete", "app|cluster|repo|proj delete|rm|rollback|terminate-op", _GONE), ("D", "prune", "app sync --prune|--force|--replace", _GONE))),
    "cdk": ("", (("S", "read", "ls|list|synth|synthesize|diff|doctor|metadata|docs", ""), ("U", "deploy", "deploy|bootstrap|import|watch|init", _CLOUD), ("D", "destroy", "destroy", "destroys infrastructure"), ("D", "approve", "deploy --require-approval=never", "changes infrastructure without asking"))),
    "sam": ("", (("S", "build", "build|validate|logs|list", ""), ("U", "deploy", "deploy|package|sync|local|init|publish", _CLOUD), ("D", "delete", "delete", "destroys infrastructure"))),
    "systemctl": ("-n -t -p -H -M", (("R", "read", "status|list-units|list-unit-files|is-active|is-enabled|is-failed|show|cat|list-timers|list-sockets|list-dependencies|get-default|--version|list-jobs|help", ""), ("R", "read", "$", ""), ("U", "start", "start|reload|restart|enable|daemon-reload|try-restart|reload-or-restart|reset-failed|set-environment", _SYSTEM), ("D", "stop", "stop|disable|mask|kill|isolate|poweroff|reboot|halt|rescue|emergency|suspend|hibernate|edit|revert|set-default|kexec|soft-reboot|clean", _STOPS))),
    "service": ("", (("R", "read", "* status", ""), ("R", "read", "--status-all", ""), ("U", "start", "* start|restart|reload", _SYSTEM), ("D", "stop", "* stop", _STOPS))),
    "journalctl": ("-u -n -p -S -U -t -o -b", (("R", "read", "!--vacuum-size|--vacuum-time|--vacuum-files|--rotate|--flush", ""), ("D", "vacuum", "--vacuum-size|--vacuum-time|--vacuum-files|--rotate|--flush", "deletes logs"))),
    "launchctl": ("", (("R", "read", "list|print|blame", ""), ("D", "stop", "unload|remove|bootout|stop|kill|disable|reboot", _STOPS))),
    "mount": ("-t -o", (("R", "list", "$", ""), ("R", "list", "-l $", ""), ("D", "mount", "*", _DISK))),
    "losetup": ("", (("R", "list", "-l|-a|--list|--all", ""), ("D", "change", "!-l|-a|--list|--all", _DISK))),
    "fdisk": ("", (("R", "list", "-l|--list", ""), ("D", "change", "!-l|--list", _DISK))), "sfdisk": ("", (("R", "list", "-l|-d|--list|--dump", ""), ("D", "change", "!-l|-d|--list|--dump", _DISK))),
    "parted": ("", (("R", "list", "-l|--list", ""), ("R", "list", "* print $", ""), ("D", "change", "!-l|--list", _DISK))), "sgdisk": ("", (("R", "list", "-p|--print", ""), ("D", "change", "!-p|--print", _DISK))),
    "zfs": ("", (("R", "read", "list|get|version", ""), ("D", "destroy", "destroy|rollback|rename|receive|set|unmount", _DISK))), "zpool": ("", (("R", "read", "list|status|get|iostat|history", ""), ("D", "destroy", "destroy|remove|labelclear|export|detach|offline|clear|create", _DISK))),
    "btrfs": ("", (("R", "read", "subvolume|filesystem|device|scrub list|show|df|usage|stats|status", ""), ("D", "delete", "subvolume|device|filesystem delete|remove|resize", _DISK))),
    "nvme": ("", (("R", "list", "list|smart-log|id-ctrl", ""), ("D", "format", "format|sanitize|delete-ns", _DISK))),
    "mdadm": ("", (("R", "read", "--detail|-D|--examine|-E", ""), ("D", "change", "!--detail|-D|--examine|-E", _DISK))),
    "hdparm": ("", (("R", "read", "-i|-I|-t|-T", ""), ("D", "change", "!-i|-I|-t|-T", _DISK))),
    "diskutil": ("", (("R", "read", "list|info|activity", ""), ("R", "read", "apfs list", ""), ("D", "erase", "eraseDisk|eraseVolume|reformat|partitionDisk|zeroDisk|randomDisk|secureErase|unmount|unmountDisk", _DISK), ("D", "erase", "apfs deleteContainer|deleteVolume|eraseVolume", _DISK))),
    "iptables": ("-t -A -I -D -p -s -d -j", (("R", "list", "-L|-S|--list|--list-rules !-F|-X|-A|-D|-P|-I", ""), ("D", "change", "!-L|-S|--list|--list-rules", "changes the firewall"), ("D", "flush", "-F|-X|-P|-A|-I|-D|--flush", "changes the firewall"))),
    "nft": ("", (("R", "list", "list", ""), ("D", "change", "flush|delete|add|insert|replace|-f", "changes the firewall"))), "ufw": ("", (("R", "status", "status|show|version|app", ""), ("D", "change", "disable|reset|allow|deny|delete|enable|reject|limit", "changes the firewall"))),
    "firewall-cmd": ("", (("R", "list", "--list-all|--state|--get-active-zones|--list-ports", ""), ("D", "change", "!--list-all|--state|--get-active-zones|--list-ports", "changes the firewall"))),
    "nmcli": ("", (("R", "read", "$", ""), ("R", "read", "device|connection|general|d|c|con|dev|g status|show|list", ""), ("D", "change", "* delete|down|modify|disconnect|off", "changes this machine's network"))),
    "sysctl": ("", (("R", "read", "-a|-n|--all !-w|-p", ""), ("D", "write", "-w|-p|--write|--load|--system", _SYSTEM))),
    "dmesg": ("-l -f", (("R", "read", "!-C|-c|--clear|--read-clear|-D|-E|-n", ""), ("D", "clear", "-C|-c|--clear|--read-clear", "erases the kernel's log"))),
    "hostnamectl": ("", (("R", "read", "$", ""), ("R", "read", "status", ""), ("D", "set", "set-hostname|hostname|set-chassis *", _SYSTEM))), "timedatectl": ("", (("R", "read", "$", ""), ("R", "read", "status|show|list-timezones", ""), ("D", "set", "set-time|set-timezone|set-ntp|set-local-rtc", _SYSTEM))),
    "fuser": ("", (("R", "read", "!-k|--kill", ""), ("D", "kill", "-k|--kill", "ends running programs"))),
    "getenforce": _always("R", ""), "defaults": ("", (("R", "read", "read|read-type|domains|find", ""), ("D", "write", "write|delete|rename|import", _SYSTEM))), "security": ("", (("U", "keychain", "", "reads or changes the keychain"), ("D", "delete", "delete-keychain|delete-generic-password|delete-internet-password|delete-certificate|delete-identity", "deletes keys"))),
    "tmutil": ("", (("R", "read", "status|listbackups|latestbackup|destinationinfo", ""), ("D", "delete", "delete|deletelocalsnapshots|disable|thinlocalsnapshots", "deletes backups"))), "csrutil": ("", (("R", "read", "status", ""), ("D", "change", "disable|enable|clear", _SYSTEM))), "spctl": ("", (("R", "read", "--status|-a|--assess", ""), ("D", "change", "--master-disable|--global-disable|--add|--remove|--disable", _SYSTEM))),
    "dscl": ("", (("R", "read", "* -read|-list|-search", ""), ("D", "change", "!-read|-list", _SYSTEM))), "nvram": ("", (("R", "read", "-p", ""), ("D", "change", "!-p", _SYSTEM))), "reg": ("", (("R", "read", "query", ""), ("D", "change", "delete|add|import|restore|load|unload", _SYSTEM))), "sc": ("", (("R", "read", "query|qc", ""), ("D", "change", "delete|stop|config|create", _SYSTEM))),
    "vssadmin": ("", (("R", "read", "list", ""), ("D", "delete", "delete|resize", "deletes backups"))), "schtasks": ("", (("R", "read", "/query", ""), ("D", "change", "/delete|/create|/change|/end", _SYSTEM))), "wmic": ("", (("U", "run", "", _SYSTEM), ("D", "delete", "* delete|call", _SYSTEM), ("D", "delete", "shadowcopy delete", "deletes backups"))),
}
TOOLS |= {"tofu": TOOLS["terraform"], "terragrunt": TOOLS["terraform"], "ip6tables": TOOLS["iptables"], "rc-service": TOOLS["service"], "gdisk": TOOLS["fdisk"], "cfdisk": TOOLS["fdisk"]}
TOOLS |= dict.fromkeys(["heroku", "fly", "flyctl", "vercel", "netlify", "firebase", "wrangler", "serverless", "sls", "railway", "supabase"], ("-a --app --project -p -s --site --scope -t --token -c --config -e --env --stage", _DEPLOY))
TOOLS |= {name: _always("D", _DISK) for name in ("mkfs wipefs blkdiscard mkswap cryptsetup lvremove vgremove pvremove lvcreate tune2fs e2fsck"
    " fsck resize2fs umount swapoff swapon format diskpart".split())}
TOOLS |= {name: _always("D", _STOPS) for name in "shutdown reboot halt poweroff init telinit".split()}
TOOLS |= {name: _always("D", _SYSTEM) for name in ("modprobe insmod rmmod useradd userdel usermod groupadd groupdel passwd chpasswd visudo chsh"
    " update-rc.d setenforce bcdedit cipher icacls takeown initctl".split())}
# fmt: on
JUDGES = {
    "docker": judge_docker,
    "podman": judge_docker,
    "nerdctl": judge_docker,
    "docker-compose": judge_compose,
    "podman-compose": judge_compose,
    "kubectl": judge_kubectl,
    "oc": judge_kubectl,
    "crontab": judge_crontab,
    "at": judge_at,
    "batch": judge_at,
    "date": judge_date,
    "hostname": judge_date,
    "tmux": judge_terminal,
    "screen": judge_terminal,
}
JUDGES |= dict.fromkeys(["aws", "gcloud", "gsutil", "bq", "az", "doctl"], judge_aws)
JUDGES |= dict.fromkeys(["kill", "pkill", "killall", "skill", "xkill", "taskkill"], judge_kill)
JUDGES |= dict.fromkeys(["ip", "ifconfig", "route"], judge_ip)
