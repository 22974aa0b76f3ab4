"""What the readers of scripts know: places of secrets, hosts that serve no software, programs that send.

Patterns are searched in words and short strings that were cut to a length before.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import ipaddress
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from skillc.audit.patterns import load_names, load_pattern, word_set

MAX_WORD = 4096  # characters of a string in which patterns are searched
MAX_DECODED = 1 << 16  # characters of a decoded text that is read


_SECRET = load_pattern("secret")
_AGENT_SECRET = load_pattern("agent-secret")
_DOTENV = load_pattern("dotenv")
_URL = load_pattern("url")
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_DOTTED = rf"(?:{_LABEL}\.){{1,10}}(?:[^\W\d_]{{2,24}}|xn--[a-z0-9-]{{2,59}})"
_HOST = re.compile(rf"{_DOTTED}|{_LABEL}")
# A host without a scheme: `user@host:path`, `host/path`, `host port`.
_BARE = re.compile(rf"(?:[\w.+-]{{1,64}}@)?({_DOTTED}|\d{{1,3}}(?:\.\d{{1,3}}){{3}})(?:[:/?].*)?", re.DOTALL)
_IP = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_ODD_NUMBER = re.compile(r"0x[0-9a-f]{6,8}|\d{8,10}", re.IGNORECASE)
LOOPBACK = re.compile(r"\blocalhost\b|\b127\.0\.0\.1\b|\[?::1\b|\b0\.0\.0\.0\b")
_NEAR = load_pattern("near")
DROPS = load_names("drops")
# Credentials that are known by the variable's name, and the domains of the service that they are for.
CREDENTIALS = {
    "ANTHROPIC_API_KEY": ("anthropic.com",),
    "OPENAI_API_KEY": ("openai.com", "azure.com"),
    "GITHUB_TOKEN": ("github.com", "githubusercontent.com", "ghcr.io", "githubcopilot.com", "azure.com"),
    "GH_TOKEN": ("github.com", "githubusercontent.com", "ghcr.io"),
    "AWS_SECRET_ACCESS_KEY": ("amazonaws.com", "aws.amazon.com"),
    "AWS_SESSION_TOKEN": ("amazonaws.com", "aws.amazon.com"),
    "AWS_ACCESS_KEY_ID": ("amazonaws.com", "aws.amazon.com"),
    "GOOGLE_API_KEY": ("googleapis.com", "google.com"),
    "GEMINI_API_KEY": ("googleapis.com", "google.com"),
    "NPM_TOKEN": ("npmjs.org", "npmjs.com"),
    "SLACK_BOT_TOKEN": ("slack.com",),
    "STRIPE_SECRET_KEY": ("stripe.com",),
    "HF_TOKEN": ("huggingface.co", "hf.co", "hf.space"),
    "SSH_PRIVATE_KEY": (),
    "DATABASE_URL": (),
    "GITLAB_TOKEN": ("gitlab.com",),
    "AZURE_CLIENT_SECRET": ("azure.com", "microsoftonline.com", "windows.net"),
}
TOKEN_HOSTS = load_names("token-hosts")
_PERSISTENCE = load_pattern("persistence")
_AGENT_FILES = load_pattern("agent-files")


def join_texts(texts: Iterable[str], separator: str, limit: int) -> str:
    """Return texts joined, cut to a limit; what comes after it is not touched, however much there is."""
    pieces: list[str] = []
    for text in texts:
        pieces.append(text[:limit])
        limit -= len(text) + len(separator)
        if limit <= 0:
            break
    return separator.join(pieces)


def is_secret(text: str) -> bool:
    """Return whether a path or a text names a file or folder of secrets.

    >>> is_secret("~/.ssh/id_rsa"), is_secret("~/.ssh/id_rsa.pub"), is_secret(".sshd")
    (True, False, False)
    """
    return _find_secret(text[:MAX_WORD])


@lru_cache(maxsize=1024)  # what scripts have many times: the values of their variables
def _find_secret(text: str) -> bool:
    return bool(_SECRET.search(text)) and not text.endswith(".pub")


def is_agent_secret(text: str) -> bool:
    """Return whether a path is where an agent keeps the keys of its skills."""
    return bool(_AGENT_SECRET.search(text[:MAX_WORD]))


def is_dotenv(text: str) -> bool:
    """Return whether a path is a file of settings that holds secrets, `.env`."""
    text = text[:MAX_WORD]
    return bool(_DOTENV.search(text)) and not _AGENT_SECRET.search(text)


def is_persistent(path: str) -> bool:
    """Return whether what is in a file is run again later."""
    return bool(_PERSISTENCE.search(path[:MAX_WORD]))


def is_agent_file(path: str) -> bool:
    """Return whether a path is an agent's settings or memory, or of another skill."""
    return bool(_AGENT_FILES.search(path[:MAX_WORD]))


def find_hosts(text: str) -> list[str]:
    """Return the hosts of the addresses in a text: all of them, for a policy to judge.

    >>> find_hosts("curl https://api.github.com/x http://localhost:1 https://vault.internal https://$HOST/")
    ['api.github.com', 'localhost', 'vault.internal']
    """
    matches = (match for match in _URL.finditer(text) if text[match.end() : match.end() + 1] not in _OPEN)
    hosts = dict.fromkeys(match[1].lower().rstrip(".") for match in matches)
    return [host for host in hosts if is_number(host) or _HOST.fullmatch(host)]


_OPEN = ("$", "<", "{", "*", "[", "(")  # a variable or a pattern starts: the rest is unknown


def find_far_hosts(text: str) -> list[str]:
    """Return the hosts that others may own: not this machine, its network, or a name of documentation.

    >>> find_far_hosts("http://127.0.0.1 https://example.com https://my-api.acme.dev")
    ['my-api.acme.dev']
    """
    return [host for host in find_hosts(text) if not is_near(host)]


def find_bare_host(word: str) -> str:
    """Return the host that a word of a command starts with, without a scheme; empty if it has none."""
    match = _BARE.fullmatch(word[:MAX_WORD])
    return match[1].lower() if match and "://" not in word else ""


def is_near(host: str) -> bool:
    """Return whether a host is this machine, of its network, or one that documentation uses."""
    return _is_private(host) if is_number(host) else bool(_NEAR.search(host))


def _is_private(name: str) -> bool:
    try:
        number = int(name, 0) if _ODD_NUMBER.fullmatch(name) else None
        address = ipaddress.ip_address(number if number is not None else name.strip("[]"))
    except ValueError:
        return True  # no address at all
    return any(address in network for network in _LOCAL)


_LOCAL = tuple(
    map(
        ipaddress.ip_network,
        word_set(
            "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16"
            " 224.0.0.0/3 ::/127 fc00::/7 fe80::/10 ff00::/8"
        ),
    )
)


def is_number(host: str) -> bool:
    """Return whether a host is a bare address."""
    return host.startswith("[") or bool(_IP.fullmatch(host) or _ODD_NUMBER.fullmatch(host))


def is_drop(host: str) -> bool:
    """Return whether anybody can put a text on a host, or receive one."""
    parts = host.split(".")
    return any(".".join(parts[start:]) in DROPS for start in range(max(0, len(parts) - 3), len(parts)))


def describe_odd(text: str) -> str:
    """Return why code from the addresses in a text should not be run; empty if there is no such reason."""
    for host in find_far_hosts(text):
        if is_number(host):
            return f"from the bare address {host}"
        if is_drop(host):
            return f"from {host}, where anybody can put a text"
        if host.startswith("xn--") or ".xn--" in host or not host.isascii():
            return f"from {host}, whose name may look like another"
        if host.endswith((".onion", ".i2p")):
            return f"from the hidden host {host}"
    return ""


def find_look_alike(host: str) -> str:
    """Return what is odd about the letters of a host; empty for an ordinary one.

    >>> find_look_alike("gіthub.com")
    'its letters are of several alphabets'
    """
    if host.isascii() and "xn--" not in host:
        return ""
    try:
        name = ".".join(
            part.encode().decode("idna") if part.startswith("xn--") else part for part in host.split(".")
        )
    except (UnicodeError, ValueError):
        return "its name can't be decoded"
    for part in name.split("."):
        scripts = {_script(letter) for letter in part if letter.isalpha()}
        if len(scripts) > 1:
            return "its letters are of several alphabets"
        if scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"} and name.rpartition(".")[2].isascii():
            return f"its letters are {next(iter(scripts)).capitalize()}"
    return ""


def _script(letter: str) -> str:
    name = unicodedata.name(letter, "").split(" ")[0]
    return "HAN" if name in ("CJK", "HIRAGANA", "KATAKANA", "HANGUL") else name


def decode_base64(text: str) -> str:
    """Return the text that base64 holds, as any alphabet and without its end; empty if it holds none."""
    compact = "".join(text.split()).rstrip("=").replace("-", "+").replace("_", "/")
    if len(compact) < 8 or len(compact) > 2 * MAX_DECODED:
        return ""
    try:
        data = base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True)
    except (ValueError, binascii.Error):
        return ""
    return as_text(data)


def decode_hex(text: str) -> str:
    """Return the text that hexadecimal digits hold; empty if they hold none."""
    compact = re.sub(r"\\x|0x|[\s:,]", "", text[: 4 * MAX_DECODED])
    try:
        return as_text(bytes.fromhex(compact))
    except ValueError:
        return ""


def decode_rot13(text: str) -> str:
    return codecs.decode(text[:MAX_DECODED], "rot13")


def reverse(text: str) -> str:
    return text[::-1]


def as_text(data: bytes) -> str:
    """Return bytes as text; empty if they are none: other data, or too few letters."""
    for encoding in ("utf-8", "utf-16-le"):
        try:
            text = data[:MAX_DECODED].decode(encoding)
        except UnicodeDecodeError:
            continue
        printable_count = sum(letter.isprintable() or letter in "\r\n\t" for letter in text)
        plain = encoding == "utf-8" or sum(map(str.isascii, text)) >= 0.9 * len(text)
        if text and printable_count >= 0.95 * len(text) and plain:
            return text
    return ""
