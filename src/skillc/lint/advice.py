"""Say for each rule why it matters and what to do, as `skc lint --explain` prints it."""

from __future__ import annotations

_ADVICE = {
    "SKL001": "Its source is elsewhere: lint that, because the next build overwrites this folder.",
    "SKL002": "Remove the comment: it hides nothing, and would hide a later mistake.",
    "SKL003": "Correct the rule's number or name in the comment; 'skc lint --explain all' lists them.",
    "SKL004": "Check the permissions of the file, and that SKILL.md is not larger than 1 MiB.",
    "SKL005": "Split the file, so that agents can read the part that they need.",
    "SKL100": "Agents that read strictly drop the whole skill. '--fix' repairs most of these.",
    "SKL101": "Add 'name:' with the name of the folder. '--fix' does it.",
    "SKL102": "Rename the skill and its folder: 'PDF Tools' becomes 'pdf-tools'.",
    "SKL103": "Choose a shorter name: agents show it in lists.",
    "SKL104": "Rename one of the two: agents look for the skill by its folder.",
    "SKL105": "Add 'description:': agents choose a skill by it alone.",
    "SKL106": "Say what the skill does and when to use it.",
    "SKL107": "Shorten it: some agents cut or refuse longer ones, and it costs tokens in every conversation.",
    "SKL108": "Add when to use it, such as 'Use when the user asks for an invoice'.",
    "SKL109": "Check the spelling; put a field of your own below 'metadata:', or into known-fields.",
    "SKL110": "Use single hyphens.",
    "SKL111": "Write a licence's name, or the name of its file.",
    "SKL112": "Say in a sentence what the skill needs: products, packages, network.",
    "SKL113": 'Put quotes around numbers and dates: version: "1.0".',
    "SKL114": "Write the tools with spaces between them. '--fix' does it.",
    "SKL115": "Remove one of the two lines: agents disagree about which counts.",
    "SKL116": "Save the file as UTF-8.",
    "SKL117": "Put the value in quotes. '--fix' does it.",
    "SKL118": "Correct the YAML between the two '---', or remove it.",
    "SKL119": "Save the file without a byte order mark. '--fix' does it.",
    "SKL201": "Move what is not always needed into files that SKILL.md links to.",
    "SKL202": "Begin the body with '# ' and a title.",
    "SKL203": "Put the skill's name into its title, so that people recognise it.",
    "SKL204": "Begin each file with '# ' and a title: outlines start there.",
    "SKL205": "Use the next level: below '##' comes '###'.",
    "SKL206": "Shorten name and description: every conversation pays for them.",
    "SKL207": "Move what is not always needed into files that SKILL.md links to.",
    "SKL301": "Correct the path; it is relative to the file with the link.",
    "SKL302": "Correct the part behind '#', or add the heading.",
    "SKL303": "Copy the file into the skill: what is outside is not installed with it.",
    "SKL401": "Name the file where an agent needs it, or remove it: agents read only what they hear of.",
    "SKL501": "Correct the declaration; 'skc tools' shows how it is read. docs/tools.md has the syntax.",
    "SKL502": "Add 'version:' to the frontmatter, or the commands are documentation only.",
    "SKL503": "Put the command into a fenced block below '#### Command'.",
    "SKL504": "List each parameter of the command with its type, and a default that fits it.",
    "SKL505": "Put pipes and redirections into a script, and call that: tools run without a shell.",
    "SKL506": "Shorten the description to 256 characters, and write the version as 1.2.0.",
    "SKL507": "Check the program's path, and make it executable: chmod +x.",
}


def advise(rule: str) -> str:
    """Return what to do about a rule, by its number."""
    return _ADVICE[rule]
