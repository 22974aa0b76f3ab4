"""How sure it is that a skill is what a task wants, from 0 to 1.

A score says which of two skills fits a task better, not whether one fits at all: it grows with the length
of the task. This is a logistic model of a few numbers that the search has at hand: how much of what the task
says a skill covers, in its description above all, and how many of the task's words are everyday ones. A word
weighs as much as it is rare among the skills, relative to one that a single skill has; a word that prompts
have whatever they are about weighs a quarter of that.

WEIGHTS and the threshold come from `scripts/eval-route --fit`; docs/ranking.md says how good they are.
"""

from __future__ import annotations

from itertools import islice
from math import exp, log1p, sqrt

from skillc.index.skills.tokens import STOP_WORDS, split_words
from skillc.index.skills.weights import idf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from skillc.index.skills.query import Candidate
    from skillc.index.skills.tokens import Stemmer

OFFER_CONFIDENCE = 0.4  # from which on a skill is worth offering to an agent that did not ask for one

WEIGHTS = {
    "constant": -7.694,
    "words": -0.664,  # ln(1 + terms of the task)
    "keywords": -2.153,  # the same without stop words
    "special": 0.613,  # and without everyday words
    "known": 3.043,  # share of the task's weight that is in terms that some skill has
    "covered": 2.329,  # that is in terms that this skill has
    "described": 3.635,  # ln(1 + weight of the terms in the skill's head, each times its share of the head)
    "score": 4.607,  # ln(1 + the score, relative to the idf of a term that no skill has)
    "named": 3.028,  # share of the words of the skill's name that the task has
}
EVERYDAY = 0.25  # what an everyday word counts

# Stems of words that prompts have whatever they are about: common ones of English and of talk about code,
# and the little words of other languages in Latin letters.
_EVERYDAY_STEMS = """
0 1 10 100 11 12 15 2 20 24 25 3 30 4 40 42 5 50 6 60 7 8 9 about abov across actual ad add after again
against ago ahead al all almost along alreadi alright also although alwai am among anoth answer anybodi
anymor anyon anyth anywai anywher apart appli april argument around arrai ask assert au august autumn
avec awai back bad becaus becom befor begin behind below besid best better between big birthdai bit blue
boi book bool boolean both bottom branch break breakfast bring broken brother bug bui build button call
came cannot capit car case cat ce cett chang check child choos citi class clean clear click close code
coffe color column com come comment commit como compar compil complet con config consid constant contain
continu cook copi correct count countri cours crash creat current cut d da dai date de debug decemb
default delet dem den der describ detail di did didn die differ dinner directori dog dollar don done
down drop du dure e each earli easi eat edit egg ein einen either el els em empti en end english enough
error es est esta et etc euro even ever everi everyon everyth everywher exact exactli exampl except exit
expect explain extra fail fals famili far fast father februari few field file fill final find fine
finish first five fix folder follow food forget format found four fridai friend front full function
further game gave gener get gift girl git give given gli go goe gone good got gram great green group
guess half happen happi hard haven he hei hello help helper her here hi high him hold home hope hour
hous howev huge husband idea ignor il im import improv includ input insert insid instead int integ
interest issu ist itself januari job joke json juli june just kann keep kei kid kind knew know known la
languag larg last late later latest le learn least leav left less let life like line link list littl
live ll lo load local log long look loop lot love low lunch m ma made mai main make man mani march mark
match matter mayb mean messag method mi might mind minut miss mistak mit modul moment mon mondai monei
month more morn most mostli mother move movi much music must myself n na name ne near need never new
next nice nicht night nobodi non none normal note noth notic novemb now null number o object obviou
octob off often ok okai old onc onli open opposit option order os other otherwis ou ought ounc out
output outsid over own pa packag page para paramet pars part parti pass past path peopl per perhap
person phone pick piec place plai plain pleas plu point por possibl pound pour present press pretti
prevent previou print probabl problem program programm project proper properli provid put py que
question questo qui quick quickli quit quoi rain random rather re read readi readm real realli reason
recent recip red refactor refer regex remain rememb remov renam repeat replac repli repo repositori rest
result return revert rid right root row run s sai said same saturdai save saw school screen script se
search second section see seem seen select self send sentenc separ septemb set sever she shop short
should show shut si side signatur similar simpl simpli sinc singl sister sit situat size skip slow small
some someon someth sometim somewher son song soon sorri sort space specif speech split spring stack stai
start state statement step still stop stori string stuff su such suggest summar summari summer sundai
sur sure switch syntax t tab take talk task te tell ten test text than thank thi thing think third those
though thought three through throw thursdai till time timeout tip titl todai togeth told tomorrow ton
too took top total toward traceback translat travel tri trip true try tuesdai tupl turn twice two type
um uma un una und understand undo unless until unus up updat upon usag user usual util vacat valu
variabl ve veri version via view wa wai wait walk want warn watch water weather wed wednesdai week
weekend well went weren whatev where whether while white whitespac whole whose why wide wie wife window
winter wish within without woman won wonder word work world worri wors write written wrong wrote x y ye
year yesterdai yet young yourself z
"""
EVERYDAY_STEMS = frozenset(_EVERYDAY_STEMS.split())


class Judge:
    """Judges how sure it is that skills are what a task wants.

    `words` has the task's terms, each with its first word, `times` how often it has each, `counts` how many
    heads and bodies of `total` skills have each. `searched` are those that were searched for.
    """

    def __init__(
        self,
        words: Mapping[str, bytes],
        times: Mapping[str, int],
        counts: Mapping[str, tuple[int, int]],
        total: int,
        searched: Collection[str],
        stemmer: Stemmer,
    ) -> None:
        self._stemmer = stemmer
        self._unknown = idf(0, total)
        rarest = idf(1, total)
        self._values: dict[str, float] = {}
        known = 0.0
        # A long task is not searched for with all of its terms, and nothing is known about the others.
        skipped = 0.0
        for term, count in times.items():
            if words[term] in STOP_WORDS:
                continue
            skills = max(counts.get(term, (0, 0)))
            value = sqrt(count) * idf(max(skills, 1), total) / rarest
            self._values[term] = value * EVERYDAY if term in EVERYDAY_STEMS else value
            known += self._values[term] if skills else 0.0
            skipped += self._values[term] if skills and term not in searched else 0.0
        whole = sum(self._values.values()) or 1.0
        self._sum = whole - skipped or 1.0
        self.searched = [term for term in self._values if term in searched]
        special = sum(1 for term in self._values if term not in EVERYDAY_STEMS)
        self._task = {
            "constant": 1.0,
            "words": log1p(len(times)),
            "keywords": log1p(len(self._values)),
            "special": log1p(special),
            "known": known / whole,
        }

    def confidences(
        self, candidates: Sequence[Candidate], heads: Iterable[Mapping[str, float]]
    ) -> list[float]:
        """Return how sure it is of each candidate that it is what the task wants.

        `heads` has for each the `searched` terms that it has, with their weights in its head, from 0 to 1.
        """
        names = [split_words(candidate.skill_id.rpartition("/")[2]) for candidate in candidates]
        stems = iter(self._stemmer.stem([word for name in names for word in name]))  # all at once
        terms = [b" ".join(islice(stems, len(name))).decode().split() for name in names]
        return [
            round(1 / (1 + exp(-sum(WEIGHTS[name] * value for name, value in features.items()))), 3)
            for features in map(self.features, candidates, heads, terms)
        ]

    def features(
        self, candidate: Candidate, head: Mapping[str, float], name: Sequence[str]
    ) -> dict[str, float]:
        """Return the numbers that the confidence is made of; `name` has the terms of the candidate's name."""
        covered = described = 0.0
        for term, weight in head.items():
            covered += self._values[term]
            described += self._values[term] * weight
        return {
            **self._task,
            "covered": covered / self._sum,
            "described": log1p(described),
            "score": log1p(candidate.score / self._unknown),
            "named": self._share_of_name(name),
        }

    def _share_of_name(self, terms: Sequence[str]) -> float:
        """Return the share of a name's terms that the task has, without everyday ones if there are others."""
        special = [term for term in terms if term not in EVERYDAY_STEMS] or terms
        return sum(1 for term in special if term in self._values) / max(1, len(special))
