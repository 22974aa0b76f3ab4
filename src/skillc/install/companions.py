"""Bring along the skills that a skill needs: offer those that are missing, and say what stays unmet."""

from __future__ import annotations

import os
from dataclasses import replace

from skillc.errors import SkillcError, warning
from skillc.install.address import parse_origin
from skillc.install.needs import describe, read_installed
from skillc.install.offers import Offer, OfferMaker, check_names
from skillc.install.origin import OURS
from skillc.origins import Installed, RequiredSkill, find_cycle, find_unmet


def bring_along(maker: OfferMaker, offers: list[Offer], *, yes: bool, dry_run: bool) -> list[Offer]:
    """Return offers with those of the skills that they need and that are not here, if a person agrees.

    What can't be had, what is here in another version, and circles are warnings: nothing is solved.
    """
    here, installed = maker.here, {each.name: each for each in read_installed(maker.root)}
    asked: set[str] = set()
    while True:
        offered = {offer.id: offer for offer in offers}
        skills = installed | {name: _describe_offer(offer) for name, offer in offered.items()}
        unmet = [each for each in find_unmet(skills.values()) if each.required_by in offered]
        missing = [each for each in unmet if not each.reason and each.skill.name not in asked]
        if not missing:
            break
        asked |= {each.skill.name for each in missing}
        lines = "\n".join(each.warn().message for each in missing)
        if not dry_run and (yes or (here.person.can_answer and here.person.confirm(lines, "Add them, too?"))):
            for each in missing:
                offers += _find_required(maker, each.skill, offered[each.required_by])
    here.tell(each.warn() for each in unmet)
    if circle := find_cycle(skills.values()):
        here.tell([warning("W104", circle[0], f"itself, by way of {', '.join(circle[1:-1])}")])
    check_names(offers)
    return offers


def _describe_offer(offer: Offer) -> Installed:
    candidate = offer.candidate
    source = f"{offer.source}/{candidate.inside}" if candidate.inside else offer.source
    return describe(offer.id, candidate.folder, source, offer.version, candidate.requires)


def _find_required(maker: OfferMaker, required: RequiredSkill, offer: Offer) -> list[Offer]:
    """Return the offer of a skill that another needs: from where that says, else from its own origin."""
    origin, names = offer.candidate.download.origin, [required.short_name]
    try:
        if required.source:
            origin = parse_origin(required.source, maker.here.cwd, origin.hosts)
            names = [] if required.is_whole else names
        elif offer.candidate.source.startswith(OURS):
            origin = parse_origin(f"{origin.url}/{required.name}", maker.here.cwd, origin.hosts)
        elif origin.type == "local":
            origin = replace(origin, url=os.path.dirname(origin.url), source=os.path.dirname(origin.source))
        else:
            origin = replace(origin, path="")
        return [replace(each, required_by=(offer.id,)) for each in maker.make([origin], names)]
    except SkillcError as error:
        maker.here.tell([warning("W005", error.message, error.code)])
        return []
