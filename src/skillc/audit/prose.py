"""Find instructions to the agent that a person should see: secrecy, orders against orders, data to send away.

Patterns for whole sentences, in English and some Chinese. They miss what is said in other words;
docs/audit.md has the numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from skillc.audit import words
from skillc.audit.findings import Trace

MAX_SENTENCE = 1000
WINDOW = 6  # sentences, or steps of a list, that belong together
MAX_MATCHES = 20  # of one kind in a text

_USER = (
    r"(?:the\s+|your\s+|any\s+)?"
    r"(?:users?|humans?|owners?|operators?|customers?|person|victim|administrators?|developers?)"
)
_NOT = (
    r"(?:do\s+not|don'?t|never|must\s+not|should\s+not|shouldn'?t|mustn'?t|cannot|no\s+need\s+to|avoid"
    r"|refrain\s+from)"
)
_SECRECY = re.compile(
    rf"{_NOT}\s+(?:ever\s+|explicitly\s+|even\s+)?(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?"
    rf"|alert(?:ing)?)\s+{_USER}\b(?!\s+(?:to|how|that\s+you\s+(?:can'?t|cannot)|you\s+(?:can'?t|cannot))\b)"
    rf"|{_NOT}\s+(?:ever\s+)?(?:mention|reveal|disclose|report|expose|surface"
    rf"|acknowledge)(?:ing)?\s+(?:this|these|that|it|any\s+of\s+this|the\s+(?:existence|presence|upload"
    rf"|transfer|transmission|sync|backup|step|call|request|command|process|operation|action"
    rf"|instructions?))\b.{{0,60}}\b(?:to\s+{_USER}|in\s+(?:your|the)\s+(?:response|output|summary|reply"
    rf"|answer|report))"
    rf"|{_NOT}\s+(?:mention|reveal|disclose)\s+(?:this|these\s+instructions|it)\s*(?:$|[.!,;\n])"
    rf"|without\s+(?:telling|informing|notifying|alerting)\s+{_USER}"
    rf"|without\s+{_USER}(?:'s)?\s+(?:knowledge|knowing|noticing|awareness)"
    rf"|(?:hide|conceal|keep)\s+(?:this|it|these|that|the\s+\w+)\b.{{0,40}}\bfrom\s+{_USER}"
    rf"|{_USER}\s+(?:must|should|shall)\s?(?:not|n'?t"
    rf"|never)\s+(?:need\s+to\s+)?(?:see|know|notice|learn|be\s+(?:told|aware|informed"
    rf"|notified))\s+(?:about|of|this|that|it)?"
    r"|(?:silently|secretly|covertly|quietly|discreetly|stealthily)\s+(?:\w+\s+){0,2}?(?:send|upload|post"
    r"|transmit|copy|execute|forward|exfiltrate|collect|install|append|include|read|fetch|download|curl"
    r"|submit|add\s+(?:the|a)\s+\w*\s*(?:key|hook|line))"
    rf"|(?:suppress|omit)\s+(?:all\s+|any\s+)?(?:output|mention|evidence"
    rf"|traces?)\b.{{0,40}}\b(?:so\s+(?:that\s+)?{_USER}|from\s+{_USER})"
    r"|(?:不要|请勿|不得|切勿|无需|不能)(?:告诉|告知|通知)用户(?!去|自行|自己|手动|如何|运行|使用|需要)"
    r"|(?:不要|请勿|不得|切勿|不能)(?:让用户(?:知道|察觉|发现)|向用户(?:透露|提及|披露))"
    r"|(?:悄悄|偷偷|暗中|静默)地?(?:发送|上传|执行|收集|读取|下载)",
    re.IGNORECASE,
)
_OVERRIDE = re.compile(
    r"(?:ignore|disregard|forget|override|bypass|discard)\s+(?:all\s+|any\s+|every\s+|the\s+|your\s+"
    r"|of\s+)*(?:previous|prior|above|earlier|preceding|existing|other|system|original|default"
    r"|safety)\s+(?:\w+\s+)?(?:instructions?|prompts?|rules?|guidelines?|directives?|constraints?|context"
    r"|messages?|policies|safeguards|restrictions)"
    r"|(?:these|this|the\s+following)\s+(?:instructions?|rules?|skill"
    r"|directives?)\s+(?:take(?:s)?\s+(?:precedence|priority)\s+over|overrides?|supersedes?)\s+(?:all\s+"
    r"|any\s+|every\s+)?(?:other|previous|prior|system|user|safety|existing)"
    r"|(?:reveal|print|output|repeat|show|leak|dump|send)\s+(?:me\s+)?(?:your|the)\s+(?:full\s+|entire\s+"
    r"|complete\s+|hidden\s+)?system\s+prompt"
    r"|you\s+are\s+(?:now\s+)?(?:in\s+)?(?:DAN\b|jailbroken|(?:an?\s+)?unrestricted|(?:developer|god"
    r"|debug|maintenance)\s+mode)"
    r"|(?:bypass|disable|circumvent|turn\s+off|skip)\s+(?:all\s+|any\s+|the\s+|your\s+)*(?:safety"
    r"|security|content|permission)\s+(?:checks?|filters?|guardrails?|restrictions?|measures?|prompts?"
    r"|confirmations?|policies)"
    r"|<\|(?:im_start|system)\|>|(?-i:\[/?(?:SYSTEM|INST)\])(?!\()|<\s*system(?:[-_](?:reminder|prompt"
    r"|override"
    r"|message))?\s*>|###\s*system\s+override"
    r"|(?:new|updated)\s+system\s+(?:prompt|instructions?)\s*:"
    r"|(?:忽略|无视|忘记|覆盖)(?:之前|以上|前面|先前|所有|一切|系统)[^。\n]{0,8}(?:指令|指示|提示|规则|限制)",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"(?:disable|ignore|override|uninstall|remove|delete|modify|overwrite|replace|do\s+not\s+(?:use|load"
    r"|invoke|consult)|never\s+(?:use|load|invoke))\s+(?:all\s+|any\s+"
    r"|the\s+)*other\s+(?:installed\s+)?(?:skills?|plugins?|tools?\s+and\s+skills?)"
    r"|(?:always|must)\s+(?:\w+\s+){0,3}?(?:this\s+skill)\s+(?:first|before\s+any\s+other"
    r"|instead\s+of\s+(?:any\s+)?other)"
    r"|(?:edit|modify|patch|append\s+to|inject\s+(?:\w+\s+){0,4}into|add\s+(?:\w+\s+){0,6}to)\s+(?:all\s+"
    r"|every\s+|each\s+|the\s+|any\s+)*(?:other\s+)?(?:installed\s+)?skills?(?:'s?)?\s*(?:files?"
    r"|SKILL\.md|instructions|folders?|director)"
    r"|(?:copy|replicate|propagate|spread)\s+(?:this\s+(?:skill|instruction\w*|text|section)"
    r"|yourself)\s+(?:in)?to\s+(?:all|every|each|any|other)",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:send|posts?|upload|transmit|forward|exfiltrate|submit|e-?mail|leak|share|push|relay|deliver"
    r"|append|attach|include|encode|embed|sync|back\s*up|report|curl)\b(?!\s+(?:request"
    r"|method)\b)",
    re.IGNORECASE,
)
_STORE = re.compile(
    r"~?/?\.(?:ssh|aws|gnupg|netrc|kube|docker/config|git-credentials|npmrc)\b|id_rsa|id_ed25519"
    r"|(?<!\w)\.env\b(?!\.example)|\bprivate\s+keys?\b|\bSSH\s+keys?\b"
    r"|\b(?:all|any|every|full|entire|complete|whole"
    r"|user'?s?)\s+(?:of\s+)?(?:the\s+)?(?:environment\s+variables?|env\s+vars?|credentials?|secrets?"
    r"|tokens?|passwords?|api[\s_-]?keys?|cookies)"
    r"|\b(?:conversation|chat)\s+(?:history|log|transcript|context)"
    r"|\bsystem\s+prompt\b|\bseed\s+phrases?\b|\bmnemonic\b|\bbrowser\s+(?:cookies|passwords|history)"
    r"|\bkeychain\b|\bwallet\s+files?\b|\bsaved\s+passwords\b"
    r"|环境变量|私钥|对话历史|聊天记录|助记词|系统提示",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b[\w.+-]+@[\w-]+\.\w{2,}|\bwebhook\b|\b(?:our|my|the\s+following|this|an?\s+external"
    r"|remote|collection|logging|analytics|telemetry|monitoring)\s+(?:server|endpoint|url|address|service"
    r"|api|host)\b|\bDNS\b|上传到|发送到",
    re.IGNORECASE,
)
# Hosts of pages that a sentence refers to, rather than places to send something to.
_PAGES = re.compile(
    r"^(?:docs?|developers?|help|support|learn|www)\.|(?:^|\.)(?:github|gitlab|wikipedia)\.(?:com|org)$"
)
_NEGATED = re.compile(
    r"\b(?:never|not|don'?t|avoid|without|no|refuse|prevent|forbid|prohibited|warn|detect\w*|flag\w*"
    r"|attacker\w*|malicious|scan\w*|check\s+(?:for|that|if|whether)|should\s?n'?t|attempts?\s+to|tr(?:y"
    r"|ies)\s+to|could|would|might|risk|block\w*|whether|looks?\s+for|e\.g\.|example)\b|禁止|不要|切勿|不得|请勿|❌|🚫|⛔",
    re.IGNORECASE,
)
# A step that is to be done each time, and what sends: as a backup, for a log, for quality.
_STANDING = re.compile(
    r"\b(?:after|before|whenever|always|every|each)\b[^.]{0,60}?\b(?:task|operation|change|edit\w*"
    r"|commit\w*|request"
    r"|tool\s?calls?|answer|response|run|session|completing|finishing|making|adding|submitting|step|event"
    r"|file)s?\b",
    re.IGNORECASE,
)
_SENDING = re.compile(
    r"\b(?:send|upload|forward|POST|transmit|submit|back\s?up|backup|sync|mirror|exfiltrate|ship)s?\b",
    re.IGNORECASE,
)
_OURS = re.compile(
    r"\bour\s+(?:\w+\s+){0,2}(?:server|endpoint|service|backup|intranet|bucket|cloud)\b", re.IGNORECASE
)
_RUN = re.compile(
    r"\b(?:run|execute|paste|terminal|install)\b|运行|执行|粘贴|终端|安装|ejecut|instal|exécut|ausführ|запуст|実行",
    re.IGNORECASE,
)
_PASSWORD = re.compile(
    r"\b(?:password|passphrase|pass|pwd)\b\s*(?:is|for\s+\w+|to\s+\w+)?\s*[:=(`'\"]"
    r"|\bpassword[- ]protected\b",
    re.IGNORECASE,
)
_PACKAGE = re.compile(
    r"\.(?:zip|rar|7z|exe|dmg|pkg|msi|scr|bat|jar|app)\b|releases/(?:download|latest)", re.IGNORECASE
)
_EXTRACT = re.compile(r"\b(?:extract|unzip|unpack|archive|zip)\b|解压", re.IGNORECASE)
_SOME = re.compile(
    r"user|human|owner|operator|silent|secret|covert|quiet|ignore|disregard|forget|override|bypass|system"
    r"|skill|you are|disable|skip|circumvent|turn\s+off|mention|reveal|disclose|\[INST|im_start|take"
    r"|用户|悄悄|偷偷|暗中|忽略|无视",
    re.IGNORECASE,
)
_MARKS = str.maketrans("", "", "*`\u00ad\u200b\u200c\u200d\u2060\ufeff")
_CONFUSABLE = str.maketrans("аеорсухіјѕԁһѵАВЕКМНОРСТУХІЈЅ’‘ʼ", "aeopcyxijsdhvABEKMHOPCTYXIJS'''")


def check_prose(
    text: str, trace: Trace, line: int = 1, *, is_script: bool = False, sentences: str | None = None
) -> None:
    """Report instructions in a text; in scripts, where words are about other things, only the plainest.

    `sentences` is the same text with blanks in place of code, if there is code in it.
    """
    plain = _plain(text)
    if _SOME.search(plain):
        if not is_script:
            _search(_SECRECY, "A40", "keeps something from the user", plain, trace, line)
            _search(_OTHERS, "A42", "is about other skills", plain, trace, line)
        _search(_OVERRIDE, "A41", "is against other instructions", plain, trace, line)
    if not is_script:
        _check_sentences(plain if sentences is None else _plain(sentences), trace, line)


def _plain(text: str) -> str:
    """Return a text without marks of emphasis and hidden characters, look-alike letters as plain ones."""
    if not text.isascii():
        text = "\n".join(unicodedata.normalize("NFKC", part) for part in text.split("\n")).translate(
            _CONFUSABLE
        )
    return text.translate(_MARKS)


def _search(pattern: re.Pattern[str], rule: str, what: str, text: str, trace: Trace, line: int) -> None:
    position = 0
    for match in islice(pattern.finditer(text), MAX_MATCHES):
        line += text.count("\n", position, match.start())
        position = match.start()
        before = text[max(0, position - 60) : position].rpartition("\n")[2]
        is_quotation = bool(_QUOTED.search(before))
        excerpt = " ".join(match[0].split())[:80]
        trace.report(rule, f"'{excerpt}' {what}", line, level="note" if is_quotation else "")


# What documentation of attacks says before it quotes one.
_QUOTED = re.compile(
    r"(?:detect\w*|flag\w*|e\.g\.,?|such as|like|example|attacks?|injection|malicious|pattern\w*|phrases?"
    r"|prevent|reject|watch for|look for|against|❌|attempt\w*|BAD|resist\w*|refuse|block\w*"
    r"|treat)\b[^\n]{0,40}$|[\"“'/|(]\s*$",
    re.IGNORECASE,
)


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences with the number of their first line from 0; a list's item is one."""
    line = position = 0
    for match in re.finditer(
        r"(?:[^.!?。！？\n]|[.!?](?!\s)|\n(?![ \t]{0,20}(?:[-*+#>|\n]|\d{1,9}[.)]|```)))+", text
    ):
        line += text.count("\n", position, match.start())
        position = match.start()
        if len(match[0]) > 20:
            lead = len(match[0]) - len(match[0].lstrip())
            yield line + match[0].count("\n", 0, lead), match[0][:MAX_SENTENCE]


def _check_sentences(text: str, trace: Trace, line: int) -> None:
    store = -WINDOW  # the number of the last sentence about secrets
    for number, (start, sentence) in enumerate(_sentences(text)):
        if _NEGATED.search(sentence):
            store = -WINDOW
            continue
        hosts = words.find_hosts(sentence) if "://" in sentence else []
        sends = bool(_SENDING.search(sentence)) and bool(hosts)
        if _STORE.search(sentence):
            store = number
            _check_theft(sentence, hosts, trace, line + start)
        elif sends and number - store < WINDOW:
            message = f"a step sends something to {hosts[0]}, and one before it is about secrets"
            trace.report("A43", message, line + start, hosts[0], "review")
        elif _STANDING.search(sentence) and (sends or (_SENDING.search(sentence) and _OURS.search(sentence))):
            place = hosts[0] if hosts else "a server"
            trace.report(
                "A45", f"tells the agent to send its work to {place}, again and again", line + start, place
            )
        _check_download(sentence, hosts, trace, line + start)


def _check_theft(sentence: str, hosts: list[str], trace: Trace, line: int) -> None:
    places = [host for host in hosts if not _PAGES.search(host)]
    if _VERB.search(sentence) and (places or _PLACE.search(sentence)):
        place = places[0] if places else "a place outside"
        message = f"tells the agent to send secrets or the conversation to {place}"
        trace.report("A43", message, line, place, "" if places or "@" in sentence else "review")


def _check_download(sentence: str, hosts: list[str], trace: Trace, line: int) -> None:
    odd = words.describe_odd(sentence) if hosts else ""
    if odd:
        level = "block" if _RUN.search(sentence) else ""
        trace.report("A44", f"tells the reader to get something {odd}", line, hosts[0], level)
    if _PASSWORD.search(sentence) and _EXTRACT.search(sentence) and (_PACKAGE.search(sentence) or hosts):
        level = "block" if hosts and _PACKAGE.search(sentence) else ""
        trace.report("A44", "tells the reader to unpack an archive with a password", line, level=level)
