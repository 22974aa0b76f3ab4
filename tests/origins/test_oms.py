"""OMS signatures: a bundle over every file, under a root that the user named."""

from __future__ import annotations

import base64
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from skillc.origins import Trust, check_signatures, combine, sign_skill
from skillc.origins.signature import BROKEN, EXPIRED, UNCHECKED, UNKNOWN, VALID, Signature
from skillc.workspace import Workspace
from tests.conftest import World
from tests.origins.authority import Company, write_public

FILE = "skill.oms.sig"


def sign(company: Company, skill: Path, **options: Any) -> None:
    chain = company.chain(**options)
    sign_skill(Workspace(str(skill.parent)), str(skill), str(company.folder / "key.pem"), certificate=chain)


def check(skill: Path, *roots: Path, name: str = "pdf") -> Signature:
    return combine(check_signatures(str(skill), name, Trust(roots=tuple(map(str, roots)))))


def test_chain(company: Company, skill: Path) -> None:
    """[SURFACES: Signatures] Valid under a root that the user named, else the root is not known."""
    sign(company, skill)
    root = company.folder / "root.pem"
    signature = check(skill, root)
    assert (signature.state, signature.signer, signature.kind) == (VALID, company.name, "oms")
    assert signature.key.startswith("SHA256:")
    stranger = check(skill)
    assert (stranger.state, stranger.signer, stranger.key) == (UNKNOWN, company.name, signature.key)
    other = Company(company.folder.parent / "other")
    assert check(skill, other.folder / "root.pem").state == UNKNOWN
    bundle = json.loads((skill / FILE).read_text())
    statement = json.loads(base64.b64decode(bundle["dsseEnvelope"]["payload"]))
    names = [each["name"] for each in statement["predicate"]["resources"]]
    assert names == [".hidden", "SKILL.md", "scripts/fill.py"]


def test_key_alone(company: Company, skill: Path) -> None:
    """[SURFACES: Signatures] A bundle that names a key by its hint needs the key among the roots."""
    sign_skill(Workspace(str(skill.parent)), str(skill), str(company.folder / "key.pem"))
    assert check(skill).state == UNCHECKED
    key = write_public(company.folder / "release.pem", company.key)
    assert check(skill, key) == Signature(VALID, "release", "oms", check(skill, key).key)


def test_what_does_not_verify(company: Company, skill: Path) -> None:
    """[SURFACES: Signatures] Each fault has a sentence of its own."""
    sign(company, skill)
    root = company.folder / "root.pem"
    (skill / "SKILL.md").write_text("---\nname: pdf\ndescription: Fill in forms!\n---\n# PDF\n")
    reasons = [check(skill, root).reason]
    sign(company, skill)
    (skill / "more.md").write_text("more\n")
    reasons.append(check(skill, root).reason)
    (skill / "more.md").unlink()
    (skill / "scripts/fill.py").rename(skill / "scripts/run.py")
    reasons.append(check(skill, root).reason)
    (skill / "scripts/run.py").rename(skill / "scripts/fill.py")
    assert check(skill, root).state == VALID
    reasons.append(check(skill, root, name="docx").reason)
    sign(company, skill, usage=Company.WEB)
    reasons.append(check(skill, root).reason)
    assert all(check(skill, root).state == BROKEN for _ in reasons)
    assert reasons == [
        "'SKILL.md' is not as it was signed",
        "'more.md' was not signed",
        "'scripts/fill.py' was signed, and is not there",
        "it is for a skill named 'pdf', and this is 'docx'",
        "its certificate is not for signatures of code",
    ]


def test_dates(company: Company, skill: Path) -> None:
    """[SURFACES: Signatures] An expired certificate is a state of its own, and so is one of tomorrow."""
    root = company.folder / "root.pem"
    for days, word in (((-30, -1), "was valid until"), ((1, 30), "is valid from")):
        sign(company, skill, days=days)
        signature = check(skill, root)
        assert (signature.state, signature.signer) == (EXPIRED, company.name)
        assert word in signature.reason
        assert check(skill).state == UNKNOWN


def test_what_git_keeps(company: Company, skill: Path) -> None:
    """[SURFACES: Signatures] Signers may leave out git's settings at the top, which is said; nothing else."""
    sign(company, skill)
    rewrite(
        skill,
        company,
        lambda predicate: predicate["serialization"].update(ignore_paths=[".gitignore", "x.md"]),
    )
    (skill / ".gitignore").write_text("*.pyc\n")
    root = company.folder / "root.pem"
    assert check(skill, root).reason == "not covered: .gitignore"
    (skill / "x.md").write_text("Do as I say.\n")
    assert check(skill, root).reason == "'x.md' was not signed"


def rewrite(skill: Path, company: Company, change: Any) -> None:
    """Change the predicate of a signature, and sign it again."""
    from skillc.origins.keys import read_signing_key
    from skillc.origins.statements import FILES, sign_statement

    bundle = json.loads((skill / FILE).read_text())
    statement = json.loads(base64.b64decode(bundle["dsseEnvelope"]["payload"]))
    change(statement["predicate"])
    key = read_signing_key(str(company.folder / "key.pem"))
    digest = statement["subject"][0]["digest"]["sha256"]
    bundle["dsseEnvelope"] = sign_statement(key, "pdf", digest, FILES, statement["predicate"])
    (skill / FILE).write_text(json.dumps(bundle))


def test_lists_that_lie(company: Company, skill: Path) -> None:
    """[SURFACES: Signatures] A signer can't list a file twice, or another digest of the whole."""
    root = company.folder / "root.pem"
    sign(company, skill)
    rewrite(skill, company, lambda predicate: predicate["resources"].append(predicate["resources"][0]))
    assert "twice" in check(skill, root).reason
    sign(company, skill)
    rewrite(skill, company, lambda predicate: predicate["resources"].reverse())
    assert "not what its digest says" in check(skill, root).reason


@pytest.mark.slow
def test_mutated_bundles(company: Company, skill: Path) -> None:
    """[SURFACES: Signatures] 500 bundles with something changed: no traceback, and no false yes."""
    sign(company, skill)
    root, path = company.folder / "root.pem", skill / FILE
    original = path.read_bytes()
    bundle = json.loads(original)
    chance = random.Random(29)
    states: Counter[str] = Counter()
    for number in range(500):
        path.write_bytes(_mutate(original, bundle, number, chance))
        states[check(skill, root).state] += 1
    assert VALID not in states
    assert states[BROKEN] > 50
    path.write_bytes(original)
    assert check(skill, root).state == VALID


def _mutate(original: bytes, bundle: Any, number: int, chance: random.Random) -> bytes:
    """Return a bundle with a byte, a value or a certificate changed."""
    copy = json.loads(json.dumps(bundle))
    envelope, material = copy["dsseEnvelope"], copy["verificationMaterial"]
    certificates = material["x509CertificateChain"]["certificates"]
    kind = number % 6
    if kind == 0:  # what JSON takes no notice of is no change
        data = bytearray(original)
        place = original.index(b'"payload"') + 14 + chance.randrange(800)
        data[place] ^= 1 << chance.randrange(7)
        return bytes(data)
    if kind == 1:
        envelope["payload"] = _flip(envelope["payload"], chance)
    elif kind == 2:
        envelope["signatures"][0]["sig"] = _flip(envelope["signatures"][0]["sig"], chance)
    elif kind == 3:
        certificates[0]["rawBytes"] = _flip(certificates[0]["rawBytes"], chance)
    elif kind == 4:
        values = [None, 5, [], {}, "", "x", [None], {"a": 1}, True, "A" * 100]
        value = chance.choice(values)
        name, holder = chance.choice(
            [
                ("payload", envelope),
                ("signatures", envelope),
                ("sig", envelope["signatures"][0]),
                ("x509CertificateChain", material),
                ("certificates", material["x509CertificateChain"]),
                ("rawBytes", certificates[0]),
                ("dsseEnvelope", copy),
                ("verificationMaterial", copy),
                ("mediaType", copy),
            ]
        )
        holder[name] = value
    else:
        statement = json.loads(base64.b64decode(envelope["payload"]))
        path = chance.choice([("predicate",), ("subject",), ("_type",), ("predicate", "resources")])
        holder = statement
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = chance.choice([None, [], {}, 1, "x", [{}], [1], [{"name": "SKILL.md"}]])
        envelope["payload"] = base64.b64encode(json.dumps(statement).encode()).decode()
    return json.dumps(copy).encode()


def _flip(text: str, chance: random.Random) -> str:
    data = bytearray(base64.b64decode(text))
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return base64.b64encode(data).decode()


def test_keys_that_can_t_be_used(world: World, skill: Path) -> None:
    """[SURFACES: Signatures] A key that is missing, of another kind or no key is one coded line."""
    key = world.root / "key.pem"
    for text, word in ((None, "can't be read"), ("nonsense", "can't be used"), ("", "can't be used")):
        if text is not None:
            key.write_text(text)
        stderr = world.fails("E100", "sign", str(skill), "--key", str(key)).stderr
        assert word in stderr
    assert not (skill / FILE).exists()
