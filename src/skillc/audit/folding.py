"""Put together what a script takes apart to hide it: `'chi' + 'ld_process'`, character codes, XOR.

No grammar: constant strings of JavaScript and languages like it, in one pass for each form. The result is a
text with as many lines, for the readers of scripts; nothing is run.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

from skillc.audit import words

MAX_CONSTANTS = 500
MAX_KEYS = 20  # that are tried on encoded numbers
_STRING = r"(?:\"(?:[^\"\\\n]|\\.){0,200}\"|'(?:[^'\\\n]|\\.){0,200}'|`[^`\\$\n]{0,200}`)"
_NUMBER = r"(?:0x[0-9a-fA-F]{1,6}|\d{1,7})"
_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\u\{([0-9a-fA-F]{1,6})\}")
_CODES = re.compile(
    rf"(?:String\s*\.\s*fromCharCode|string\s*\.\s*char|\bpack\s*\(?\s*['\"][CcUW]\*['\"]\s*,)"
    rf"\s*\(?\s*({_NUMBER}(?:\s*,\s*{_NUMBER}){{1,2000}})\s*\)?"
)
_CHARACTERS = re.compile(
    rf"(?:\bchr\s*\(\s*{_NUMBER}\s*\)|\[char\]\s*{_NUMBER}|\b{_NUMBER}\.chr\b)"
    rf"(?:\s?(?:\.\.?|\+|,|&|<<)\s?(?:\bchr\s*\(\s*{_NUMBER}\s*\)|\[char\]\s*{_NUMBER}|{_NUMBER}\.chr\b)){{2,2000}}",
    re.IGNORECASE,
)
_LETTERS = re.compile(
    r"string\.char|\bchr\b|fromCharCode|\.pack\b|\bpack\s*\(|from_utf8|\[char|\[\]byte|byte\[\]|toChar|\bu8\b",
    re.IGNORECASE,
)
_ESCAPES = re.compile(r"(?:\\\d{2,3}){6,2000}")
_JOIN = re.compile(rf"\[\s*({_STRING}(?:\s*,\s*{_STRING}){{1,100}})\s*\]\s*\.\s*join\s*\(\s*(?:''|\"\")\s*\)")
_REVERSAL = re.compile(
    rf"({_STRING})\s*\.split\(\s*(?:''|\"\")\s*\)\s*\.reverse\(\)\s*\.join\(\s*(?:''|\"\")\s*\)"
    rf"|\b(?:strrev|string\.reverse|scalar\s+reverse|scalar\(reverse)\s*\(?\s*({_STRING})\s*\)?"
    rf"|\(?({_STRING})\)?\s*[.:]reverse\b(?:\(\))?"
)
_DECODER = re.compile(
    rf"(?:\batob\s*\(\s*({_STRING})\s*\)|Buffer\.from\s*\(\s*({_STRING})\s*,\s*['\"](?:base64|hex)['\"]\s*\)"
    r"(?:\s*\.toString\s*\([^()\n]{0,20}\))?)"
)
_LISTS = re.compile(rf"\b([A-Za-z_$][\w$]*)\s*=\s*\[\s*({_STRING}(?:\s*,\s*{_STRING}){{0,300}})\s*,?\s*\]")
_ITEM = re.compile(rf"\b([A-Za-z_$][\w$]*)\s*\[\s*({_NUMBER})\s*\]")
_CONSTANT = re.compile(rf"\b([A-Za-z_$][\w$]*)\s*=\s*({_STRING})\s*(?=[;,\n]|$)")
_OPERAND = rf"(?:{_STRING}|(?<![\w$.])[A-Za-z_$][\w$]*(?![\w$(.\[]))"
_SUM = re.compile(rf"{_OPERAND}(?:\s*\+\s*{_OPERAND}){{1,100}}|{_STRING}(?:\s?\.\.?\s?{_STRING}){{1,100}}")
_NAMED_MEMBER = re.compile(r"(?<=[\w$)\]])\[\s*([A-Za-z_$][\w$]*)\s*\]")
_MEMBER = re.compile(r"(?<=[\w$)\]])\s*(?:\?\.)?\[\s*(['\"`])([A-Za-z_$][\w$]*)\1\s*\]")
_NUMBERS = re.compile(rf"[\[({{]\s*({_NUMBER}(?:u8)?(?:\s*,\s*{_NUMBER}){{7,20000}})\s*,?\s*[\])}}]")
_XOR = re.compile(
    r"fromCharCode\s*\([^;\n]{0,200}\^|charCodeAt\s*\([^;\n]{0,80}\)\s*\^|\^\s*[\w$.\[\]]{1,60}\.charCodeAt"
)
_KEY = re.compile(rf"(?:=|\^)\s*(?:({_NUMBER})\b|({_STRING}))")
# Names that an honest script writes out.
_NAMES = re.compile(
    r"\b(?:child_process|exec(?:Sync|File)?|spawn(?:Sync)?|eval|Function|require|readFileSync|https?|fetch|process"
    r"|env|environ|subprocess|urllib|constructor|fromCharCode|atob|system|create_function|shell_exec|passthru|popen|proc_open|loadstring|base64_decode|gzinflate|IEX|Invoke-Expression|DownloadString|curl|wget|id_rsa|credentials)\b"
    r"|\.ssh\b|\.aws\b|/bin/(?:ba)?sh\b|https?://"
)


def fold(text: str) -> str:
    """Return a script with its constant strings put together.

    >>> fold("require('chi' + 'ld_process')['ex' + 'ec'](c)")
    "require('child_process').exec(c)"
    """
    text = _ESCAPE.sub(_unescape, text)
    text = _ESCAPES.sub(_unescape_run, text)
    text = _CHARACTERS.sub(
        lambda match: _quote(_decode_numbers(",".join(re.findall(_NUMBER, match[0])), 0), match), text
    )
    if _LETTERS.search(text):
        text = _NUMBERS.sub(_name_numbers, text)
    text = _CODES.sub(lambda match: _quote(_decode_numbers(match[1], 0), match), text)
    text = _JOIN.sub(lambda match: _quote("".join(_strings(match[1])), match), text)
    text = _REVERSAL.sub(lambda match: _quote((match[1] or match[2] or match[3])[1:-1][::-1], match), text)
    text = _DECODER.sub(_decode, text)
    text = _put_in_items(text)
    text = _add_up(text)
    return _MEMBER.sub(r".\2", _put_in_members(text))


def find_hidden_names(text: str, folded: str) -> list[str]:
    """Return the names that a script puts together: those of programs, of modules and of secrets."""
    if folded == text:
        return []
    plain = Counter(_NAMES.findall(text))
    names = Counter(_NAMES.findall(folded)).items()
    return [name for name, count in names if count > plain[name] and not (plain[name] and name[:4] == "http")]


def decode_xor(text: str) -> str | None:
    """Return the text that a script decodes with XOR, as far as its key is known; None if it does not."""
    if not _XOR.search(text):
        return None
    keys = dict.fromkeys(match[1] or match[2] for match in _KEY.finditer(text) if len(match[0]) < 60)
    for data in [match[1] for match in _NUMBERS.finditer(text)][:MAX_KEYS]:
        for key in [*keys][:MAX_KEYS]:
            plaintext = _decode_numbers(data, key[1:-1] if key[0] in "'\"`" else int(key, 0))
            if re.search(r"[a-z]{3}.*[(=;]", plaintext) and words.as_text(
                plaintext.encode("latin-1", "replace")
            ):
                return plaintext
    return ""


def _decode_numbers(text: str, key: int | str) -> str:
    numbers = [int(number, 0 if "x" in number else 10) for number in text.split(",") if number.strip()]
    keys = [ord(letter) for letter in key] if isinstance(key, str) else [key]
    if not keys:
        return ""
    return "".join(chr((number ^ keys[at % len(keys)]) & 0xFFFF) for at, number in enumerate(numbers))


def _unescape(match: re.Match[str]) -> str:
    letter = chr(min(int(match[1] or match[2] or match[3], 16), 0x10FFFF))
    return letter if letter.isprintable() and letter not in "'\"`\\" else match[0]


def _unescape_run(match: re.Match[str]) -> str:
    """Return letters that are written as decimal or octal codes, if they name something."""
    codes = match[0][1:].split("\\")
    for base in (10, 8):
        if base == 10 or not re.search("[89]", match[0]):
            letters = "".join(chr(int(code, base)) for code in codes)
            if letters.isprintable() and _NAMES.search(letters) and not re.search("['\"`]", letters):
                return letters
    return match[0]


def _name_numbers(match: re.Match[str]) -> str:
    """Return a list of codes as the string that they are, if it names something."""
    value = _decode_numbers(match[1].replace("u8", ""), 0)
    return _quote(value, match) if _NAMES.search(value) else match[0]


def _quote(value: str, match: re.Match[str]) -> str:
    """Return a value as a string of the script, with the line ends of what it replaces."""
    if not value.isprintable() or "'" in value:
        return match[0]
    return f"'{value}'" + "\n" * match[0].count("\n")


def _strings(text: str) -> list[str]:
    return [string[1:-1] for string in re.findall(_STRING, text)]


def _decode(match: re.Match[str]) -> str:
    value = (match[1] or match[2])[1:-1]
    return _quote(words.decode_base64(value) or words.decode_hex(value) or "'", match)


def _put_in_items(text: str) -> str:
    """Replace `names[3]` by the string that the list has there."""
    lists = {match[1]: _strings(match[2]) for match in _LISTS.finditer(text)}

    def item(match: re.Match[str]) -> str:
        values, at = lists.get(match[1], []), int(match[2], 0 if "x" in match[2] else 10)
        return _quote(values[at], match) if at < len(values) else match[0]

    return _ITEM.sub(item, text) if lists else text


def _put_in_members(text: str) -> str:
    """Replace `object[name]` by the member that a constant names, if that hides something."""
    constants = {match[1]: match[2][1:-1] for match in islice(_CONSTANT.finditer(text), MAX_CONSTANTS)}

    def member(match: re.Match[str]) -> str:
        value = constants.get(match[1], "")
        return f"['{value}']" if _NAMES.search(value) else match[0]

    return _NAMED_MEMBER.sub(member, text) if constants else text


def _add_up(text: str) -> str:
    """Replace sums of strings, and of names that are constants, by their values."""
    constants = {match[1]: match[2][1:-1] for match in islice(_CONSTANT.finditer(text), MAX_CONSTANTS)}

    def total(match: re.Match[str]) -> str:
        values = []
        for operand in re.findall(rf"{_STRING}|[A-Za-z_$][\w$]*", match[0]):
            value = operand[1:-1] if operand[0] in "'\"`" else constants.get(operand)
            if value is None:
                return match[0]
            values.append(value)
        return _quote("".join(values), match)

    return _SUM.sub(total, text)
