"""`skc browse`: collections and skills, as the `browse_skills` tool shows them."""

from __future__ import annotations

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

COMMAND = Command(
    "browse",
    "List the skills and collections of the repositories, or search them.",
    arguments=(Argument("path", "A collection, such as extraction/medical.", required=False),),
    options=(
        Option(
            "--query",
            "Skills of all collections whose name or description holds these words.",
            value="<words>",
        ),
        FORMAT,
    ),
    examples=("skc browse", "skc browse extraction", "skc browse --query email"),
)


def run(arguments: Arguments) -> int:
    from skillc.cli import prompting
    from skillc.cli.output import print_json
    from skillc.text import one_line

    path, query = arguments.optional("path") or "", arguments.optional("query")
    engine = prompting.engine()
    found = prompting.run(engine.browse(path, query), engine.source)
    if arguments.text("format") == "json":
        print_json(found)
        return 0
    for collection in found.get("subcollections", []):
        count, words = collection["count"], collection["description"]
        about = (
            "" if words == f"{count} skills" else f"  {words}"
        )  # which is said where nothing else is known
        print(one_line(f"{collection['path']}/  ({count}){about}"))
    for skill in found["skills"]:
        print(one_line(f"{skill['id']}  {skill['description']}"))
    if not found["skills"] and not found.get("subcollections"):
        print("No skills.")
    return 0
