"""`skc load`: a skill as the block that enters a prompt."""

from __future__ import annotations

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command

COMMAND = Command(
    "load",
    "Print a skill as the block that enters a model's context.",
    arguments=(Argument("id", "A canonical ID, such as extraction/email-extractor."),),
    options=(FORMAT,),
    examples=("skc load extraction/email-extractor",),
)


def run(arguments: Arguments) -> int:
    from skillc.cli import prompting
    from skillc.cli.output import print_json

    engine = prompting.engine()
    skill = prompting.run(engine.resolve_and_render([arguments.text("id")]), engine.source)[0]
    if arguments.text("format") == "json":
        print_json(skill.as_json())
    else:
        print(skill.rendered_body)
    return 0
