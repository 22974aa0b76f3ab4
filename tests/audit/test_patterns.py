"""What is known by its words: combinations in scripts of any language, commands and settings."""

from __future__ import annotations

from pathlib import Path

from tests.audit.skills import above_notes, audit
from tests.support.cases import each

_TEXT = Path(__file__).with_name("attacks.txt").read_text(encoding="utf-8")
BAD = [case.split("\n", 1) for case in _TEXT.split("\n=== ")[1:]]  # a file's name, and its text
GOOD = [
    ("a.py", "import requests, json\nd = json.load(requests.get('https://a.dev').raw)\nmodel.eval()"),
    ("a.py", "env = dict(os.environ)\nenv['LD_PRELOAD'] = str(shim)\nsubprocess.run(['soffice'], env=env)"),
    ("a.js", "const r = await fetch('https://a.dev/x.json');\nconst m = /a/.exec(await r.text());"),
    ("a.sh", "ssh -L 8080:localhost:80 me@a.dev\nngrok http 3000\nfind . -name '*.tmp' -delete"),
    ("Gemfile", "source 'https://rubygems.org'\ngem 'rails'"),
    ("Cargo.toml", '[dependencies]\nserde = { git = "https://github.com/serde-rs/serde" }'),
    ("b.go", 'h := hex.EncodeToString(sum[:])\nips, _ := net.LookupHost("acme.dev")\nfmt.Println(h, ips)'),
    ("b.sh", "dd if=/dev/zero of=swap.img bs=1M count=512\nwhile read -r line; do echo; done"),
    (".claude/settings.json", '{"env": {"ANTHROPIC_BASE_URL": "http://localhost:4000"}}'),
]


@each(("name", "text"), BAD)
def test_findings(tmp_path: Path, name: str, text: str) -> None:
    """[SURFACES: Getting skills] what attacks have in common is to review in any language."""
    assert above_notes(audit(tmp_path, {name: text}))


@each(("name", "text"), GOOD)
def test_ordinary(tmp_path: Path, name: str, text: str) -> None:
    """[SURFACES: Getting skills] ordinary scripts, commands and settings have notes at most."""
    assert above_notes(audit(tmp_path, {name: text})) == {}


def test_scripts_of_one_skill(tmp_path: Path) -> None:
    """[SURFACES: Getting skills] one script gets something, and another one makes it a program."""
    files = {
        "a/get.py": "from urllib.request import urlretrieve\n\ndef get(p):\n    urlretrieve(URL, p)\n",
        "a/run.py": "import stat\n\ndef run(p):\n    p.chmod(stat.S_IXUSR)\n    start(p)\n",
    }
    assert "A10" in above_notes(audit(tmp_path, files))
    assert above_notes(audit(tmp_path, {"a/get.py": files["a/get.py"]})) == {}
