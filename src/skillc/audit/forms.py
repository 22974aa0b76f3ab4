"""The table of commands that are known by their form: rule, programs, a pattern of the line, a message."""

from __future__ import annotations

import re

from skillc.audit.findings import Trace
from skillc.audit.words import word_set

_ROOTS = (
    r"(?:/|/\*|\.\./\*|~|~/|~/\*|\$\{?HOME\}?/?\*?|/(?:home|usr|etc|var|boot|Users|System|Library)(?:/\*?)?"
    r"|[A-Z]:\\?\*?|(?:~|\$\{?HOME\}?)/(?:Documents|Desktop|Pictures|Downloads|Music|Videos|Library)/?\*?)"
)
_DISK = r"/dev/(?:sd|nvme|hd|disk|vd|mmcblk)"
_TABLE = (
    (
        "A17",
        "",
        r"--(?:dangerously-\w[\w-]*|yolo|allow-dangerously-skip-permissions|full-auto|trust-all-tools)\b",
        "'{}' is told not to ask",
    ),
    ("A17", "", r"--permission-mode[= ]bypassPermissions", "'{}' is told not to ask"),
    (
        "A19",
        "setenforce spctl csrutil ufw",
        r"\b0$|--(?:master|global)-disable|\bdisable\b",
        "'{}' switches a protection off",
    ),
    ("A19", "xattr", r"\s-\w*[cd]\w*\s", "'{}' takes the mark off what was downloaded"),
    (
        "A19",
        "iptables systemctl",
        r"\s-F\b|\b(?:stop|disable)\s+(?:firewalld|ufw|auditd|apparmor)",
        "'{}' switches a protection off",
    ),
    ("A19", "", r"[SA][ed][td]-MpPreference|DisableRealtimeMonitoring", "'{}' switches a protection off"),
    (
        "A19",
        "history unset shred rm",
        r"^history\s+-c\b|HISTFILE|\.(?:bash|zsh)_history\b",
        "'{}' removes traces",
    ),
    (
        "A19",
        "git",
        r"\bsslVerify[\s=]+(?:false|0)|http\.proxy\s+\S",
        "'{}' takes a protection off its connections",
    ),
    (
        "A19",
        "update-ca-certificates update-ca-trust security certutil import-certificate",
        r"^update-ca|add-trusted-cert|-addstore|TrustedPublisher|cert:\\",
        "'{}' makes a certificate one to be trusted",
    ),
    (
        "A18",
        "alias",
        r"^alias\s+['\"]?(?:sudo|su|ssh|gpg|passwd)=",
        "'{}' puts something in place of a program",
    ),
    (
        "A10",
        "mshta regsvr32 rundll32 msiexec wmic installutil",
        r"(?i)https?://|javascript:",
        "'{}' runs code that is downloaded",
    ),
    ("A10", "certutil bitsadmin", r"(?i)urlcache|/transfer", "'{}' downloads, which it is not for"),
    ("A45", "git", r"^git\s+push\s+(?:-\S+\s+)*https?://", "'{}' sends the project to an address"),
    ("A19", "powershell pwsh", r"(?i)-w\w*\s+hidden", "'{}' runs in a hidden window"),
    (
        "A52",
        "",
        r"(?i)stratum\+(?:tcp|ssl)://|(?:^|[\s/])(?:xmrig|minerd|cpuminer|ethminer|nbminer|xmr-stak)\b",
        "'{}' mines cryptocurrency",
    ),
    (
        "A51",
        "rm",
        rf"^(?=.*\s-\w*[rR])(?=.*\s{_ROOTS}(?:\s|$))",
        "'{}' deletes far more than the skill's files",
    ),
    ("A51", "dd shred wipefs", rf"(?:of=|\s){_DISK}", "'{}' overwrites a disk"),
    ("A51", "mkfs mkfs.ext4 mkfs.xfs mkfs.vfat", rf"{_DISK}", "'{}' overwrites a disk"),
    (
        "A18",
        "docker podman",
        r"--privileged\b|(?:-v|--volume)[= ]/:|/var/run/docker\.sock|--pid[= ]host",
        "'{}' gives a container the whole machine",
    ),
    ("A18", "chmod", r"\s(?:[ugoa]*\+[rwx]*s[rwx]*|[2467]\d{3})\s", "'{}' lets a program run as its owner"),
    ("A18", "visudo setcap", r"", "'{}' changes what may be run as root"),
    ("A18", "tee cp mv install", r"/etc/sudoers", "'{}' changes what may be run as root"),
    ("A14", "crontab", r"^crontab(?!.*\s-[lr]\b)\s+\S", "'{}' makes something run later"),
    ("A14", "systemctl", r"\b(?:enable|reenable|link)\b", "'{}' makes something run later"),
    ("A14", "launchctl", r"\b(?:load|bootstrap|enable|submit)\b", "'{}' makes something run later"),
    ("A14", "schtasks", r"(?i)/(?:create|change)\b", "'{}' makes something run later"),
    ("A14", "loginctl", r"\benable-linger\b", "'{}' makes something run later"),
    (
        "A14",
        "at batch",
        r"^(?:at\s+(?:now|\d|-f|tomorrow|noon|midnight)|batch\s*$)",
        "'{}' makes something run later",
    ),
    ("A14", "update-rc.d chkconfig pm2", r"\b(?:defaults|on|startup)\b", "'{}' makes something run later"),
    (
        "A14",
        "git",
        r"\bcore\.(?:hooksPath|fsmonitor|sshCommand)\b|\binit\.templateDir\b",
        "'{}' sets the folder of hooks",
    ),
    ("A14", "reg", r"(?i)\badd\b.*CurrentVersion\\+Run", "'{}' makes something run later"),
    (
        "A50",
        "nc ncat netcat",
        r"\s-\w*[ec]\w*\s+\S*(?:sh|cmd|powershell)\b|--(?:sh-)?exec\b",
        "'{}' hands a shell to another machine",
    ),
    ("A50", "socat", r"(?i)(?=.*\b(?:exec|system):)(?=.*tcp)", "'{}' hands a shell to another machine"),
    ("A50:review", "", r"/dev/(?:tcp|udp)/", "opens a connection that a shell can be handed to"),
    ("A19", "git", r"\burl\.\S+\.(?:push)?insteadOf\b", "'{}' leads its connections to another place"),
    (
        "A18",
        "useradd adduser usermod net dscl chpasswd",
        r"\s-\w*G\s*\S*(?:sudo|wheel|admin|docker)|\buser\b.*/add|-create\s+/Users|^chpasswd",
        "'{}' makes or changes an account",
    ),
    ("A50:review", "ssh autossh", r"\s-\w*R\s*\S*:\d", "'{}' lets another machine in"),
    ("A50:review", "ngrok bore chisel frpc cloudflared", r"\btcp\b|\bssh\b|:22\b|\br:", "'{}' lets other machines in"),
    ("A51", "find", rf"^find\s+{_ROOTS}\s.*(?:-delete\b|-exec\s+(?:rm|shred)\b)", "'{}' deletes a person's files"),
    (
        "A20",
        "rsync scp rclone",
        r"(?:~|\$\{?HOME\}?)/(?:Documents|Desktop|Pictures|Photos|Mail)?/?\s.*\S+:",
        "'{}' sends a person's files",
    ),
    ("A20", "security", r"^security\s+(?:find-|dump-keychain|export)", "'{}' reads the keychain"),
    (
        "A20",
        "secret-tool keyring cmdkey pass",
        r"^\S+\s+(?:lookup|get|show|search)\b",
        "'{}' reads stored passwords",
    ),
)
_FORMS = tuple(
    (rule, word_set(names), re.compile(pattern), message) for rule, names, pattern, message in _TABLE
)


def check_command(name: str, text: str, trace: Trace, line: int) -> None:
    """Report a command that has one of the forms; `text` is its line, of a bounded length."""
    for rule, names, pattern, message in _FORMS:
        if (not names or name in names) and pattern.search(text):
            number, _, level = rule.partition(":")
            trace.report(number, message.format(name), line, name, level)
