"""`skc publisher` at a real registry, and a job of CI that publishes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillc.registry import SYSTEM, Role, open_registry
from skillc.server import PublishingSettings, SignInSettings
from tests.cli.calls import fails, ok
from tests.conftest import World
from tests.support.cases import each
from tests.support.ci import Runner, running_runner
from tests.support.issuer import Issuer, running_issuer
from tests.support.pages import serving as serving_pages
from tests.support.registry import Server, free_port, serving
from tests.support.team import Team


def test_publishers(admin: World, team: Team) -> None:
    """[SURFACES: Sign-in] trusted publishers are added, listed and removed; GitHub is the default."""
    assert ok("publisher", "list").stdout == "No trusted publishers.\n"
    words = ("acme/skills", "release.yml", "--prefix", "payments", "--ref", "refs/tags/v*")
    made = admin.json("publisher", "add", *words)
    assert made == {
        "id": made["id"],
        "repository": "acme/skills",
        "workflow": "release.yml",
        "prefix": "payments",
        "ref": "refs/tags/v*",
        "environment": "",
        "issuer": "https://token.actions.githubusercontent.com",
        "registry": team.url,
    }
    run = ok(
        *("publisher", "add", "acme/tools/skills", ".gitlab-ci.yml", "--prefix", "tools"),
        *("--issuer", "https://gitlab.com", "--environment", "release"),
    )
    assert ".gitlab-ci.yml of acme/tools/skills may publish below tools now" in run.stdout
    first, second = admin.json("publisher", "list")["publishers"]
    assert (first["id"], second["issuer"]) == (made["id"], "https://gitlab.com")
    rows = [line.split() for line in ok("publisher", "list").stdout.splitlines()]
    assert (rows[0][0], rows[1][:3]) == ("ID", [made["id"], "acme/skills", "release.yml"])
    assert "its tokens ended" in ok("publisher", "remove", made["id"]).stdout
    assert len(admin.json("publisher", "list")["publishers"]) == 1
    fails("E093", "publisher", "remove", made["id"])


MISTAKES = """
E100 trust acme/skills
E100 add acme/skills release.yml
E100 add acme/skills --prefix payments
E100 list acme/skills
E100 list --prefix payments
E100 remove
E100 add a/b c.yml --prefix p --issuer https://login.example.com
E062 add skills release.yml --prefix payments
E062 add acme/skills release.yml --prefix payments --ref main
E070 add acme/skills release.yml --prefix 'Not a path'
"""


@each("words", map(shlex.split, MISTAKES.strip().splitlines()))
def test_mistakes(admin: World, words: list[str]) -> None:
    """[SURFACES: Sign-in] a mistake is one coded line."""
    fails(words[0], "publisher", *words[1:])


def test_admins(world: World, team: Team) -> None:
    """[SURFACES: Sign-in] only admins of the path trust workflows."""
    token = team.token("ada", Role.ADMIN, "payments")
    world.ok("login", team.url, "--token-env", "TEAM", env={"TEAM": token})
    ok("publisher", "add", "acme/skills", "release.yml", "--prefix", "payments/eu")
    fails("E090", "publisher", "add", "acme/skills", "release.yml", "--prefix", "other")
    fails("E090", "publisher", "add", "acme/skills", "release.yml", "--prefix", "")


@dataclass
class Ci:
    """A registry process that trusts our issuers, and what plays GitHub and GitLab for its jobs."""

    server: Server
    github: Issuer
    gitlab: Issuer
    runner: Runner

    @property
    def url(self) -> str:
        return self.server.url

    def id_token(self, **changes: Any) -> str:
        """What GitLab puts into the variable of a job."""
        host = self.gitlab.url.partition("://")[2]
        file = f"{host}/acme/tools/skills//.gitlab-ci.yml@refs/heads/main"
        claims = {"iss": self.gitlab.url, "aud": self.url, "ci_config_ref_uri": file} | changes
        return self.gitlab.sign(self.gitlab.gitlab_claims(**claims))

    def publishers_of(self, skill_id: str) -> list[str]:
        with self.server.client() as client:
            versions = client.get(f"/skills/{skill_id.replace('/', '%2F')}/versions").json()["versions"]
        return [version["published_by"].rpartition("/acme/")[2] for version in versions]


@pytest.fixture(scope="module")
def ci(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ci]:
    home = tmp_path_factory.mktemp("server")
    port = free_port()
    with ExitStack() as stack:
        github, gitlab = (stack.enter_context(running_issuer()) for _ in range(2))
        lines = f'[publishing]\ngithub = ["{github.url}"]\ngitlab = ["{gitlab.url}"]\n'
        (home / "registry.toml").write_text(lines)
        words = ("--config", "registry.toml", "--url", f"http://127.0.0.1:{port}")
        server = stack.enter_context(serving(home, *words, "--port", str(port)))
        with server.client() as client:
            for prefix in ("refunds", "payments", "payments/eu"):
                for issuer, repository, workflow in (
                    (github, "acme/skills", "release.yml"),
                    (gitlab, "acme/tools/skills", ".gitlab-ci.yml"),
                ):
                    place = {"issuer": issuer.url, "repository": repository, "workflow": workflow}
                    made = client.post("/trusted-publishers", json={**place, "prefix": prefix})
                    assert made.status_code == 201, made.text
        yield Ci(server, github, gitlab, stack.enter_context(running_runner(github)))


@pytest.fixture
def job(world: World) -> World:
    """A checkout in CI: nothing is stored."""
    world.skill("refunds")
    return world


def check_secrets(ci: Ci, *runs: Any) -> None:
    """No secret of a job is in what was printed, or in the server's log."""
    texts = [run.stdout + run.stderr for run in runs] + [ci.server.log.read_text()]
    secrets = [ci.runner.secret, *ci.runner.tokens]
    assert not [secret for secret in secrets for text in texts if secret in text]
    assert not [text for text in texts if re.search("skc_[0-9a-f]|eyJ", text)]


@pytest.mark.slow
def test_in_github_actions(job: World, ci: Ci) -> None:
    """[SURFACES: Sign-in] in GitHub Actions `skc publish <skill> --to <url>` needs no token, and no more."""
    run = job.ok("publish", "refunds", "--to", ci.url, env=ci.runner.variables)
    assert run.stdout.startswith("Published refunds 0.1.0 in ")
    assert ci.publishers_of("refunds") == ["skills"]
    assert ci.runner.audiences[-1] == ci.url
    words = ("publish", "refunds", "--to", ci.url, "--id")
    more = [job.ok(*words, name, env=ci.runner.variables) for name in ("payments/refunds", "payments/eu/a")]
    assert ci.publishers_of("payments/refunds") == ["skills"]  # of several publishers the one that fits
    refused = job.fails("E090", *words, "other/refunds", env=ci.runner.variables)
    assert "no trusted publisher for 'other/refunds' fits" in refused.stderr
    assert "hint: 'skc publisher list'" in refused.stderr
    assert len({*ci.runner.tokens}) == len(ci.runner.tokens) == 4  # each asks for its own
    check_secrets(ci, run, *more, refused)
    assert not (job.home / ".skillc" / "credentials.json").exists()


@pytest.mark.slow
def test_tokens_of_a_job(job: World, ci: Ci) -> None:
    """[SURFACES: Sign-in] the token that a job gets is for the one skill that it publishes."""
    job.ok("publish", "refunds", "--to", ci.url, "--id", "payments/one", env=ci.runner.variables)
    with ci.server.client() as client:
        tokens = [each for each in client.get("/tokens").json()["tokens"] if each["owner"].startswith("ci:")]
        assert "payments/one" in {each["prefix"] for each in tokens}
        assert {each["role"] for each in tokens} == {"publisher"}


@pytest.mark.slow
def test_in_gitlab(job: World, ci: Ci) -> None:
    """[SURFACES: Sign-in] in GitLab CI the ID token is in SKILLC_ID_TOKEN, and good once."""
    variables = {"GITLAB_CI": "true", "CI": "true", "SKILLC_ID_TOKEN": ci.id_token()}
    words = ("publish", "refunds", "--to", ci.url, "--id")
    asked = len(ci.runner.requests)
    run = job.ok(*words, "payments/gitlab", env=variables)
    assert ci.publishers_of("payments/gitlab") == ["tools/skills"]
    again = job.fails("E090", *words, "payments/again", env=variables)
    assert "the ID token was used before" in again.stderr
    other = job.fails("E090", *words, "payments/x", env={"SKILLC_ID_TOKEN": ci.id_token(aud="https://x.org")})
    assert "for another audience" in other.stderr
    assert len(ci.runner.requests) == asked
    check_secrets(ci, run, again, other)
    job.fails("E100", *words, "payments/x", env={"SKILLC_ID_TOKEN": "no token"})


@pytest.mark.slow
def test_stored_tokens_come_first(job: World, ci: Ci) -> None:
    """[SURFACES: Sign-in] a job with a token of its own asks for none; without any it is told what to add."""
    asked = len(ci.runner.requests)
    variables = ci.runner.variables | {"SKILLC_TOKEN": ci.server.token}
    job.ok("publish", "refunds", "--to", ci.url, "--id", "stored/refunds", env=variables)
    assert len(ci.runner.requests) == asked
    words = ("publish", "refunds", "--to", ci.url)
    github = job.fails("E090", *words, env={"GITHUB_ACTIONS": "true"})
    assert "the job needs 'permissions: id-token: write'" in github.stderr
    gitlab = job.fails("E090", *words, env={"GITLAB_CI": "true"})
    assert f'SKILLC_ID_TOKEN: {{ aud: "{ci.url}" }}' in gitlab.stderr
    here = fails("E090", *words)
    assert "skc login" in here.stderr


@pytest.mark.slow
def test_pull_requests(job: World, ci: Ci) -> None:
    """[SURFACES: Sign-in] what outsiders start publishes nothing; a dry run says so, and goes on."""
    ci.runner.claims = {"event_name": "pull_request"}
    try:
        words = ("publish", "refunds", "--to", ci.url, "--id", "payments/pr")
        refused = job.fails("E090", *words, env=ci.runner.variables)
        assert "jobs started by 'pull_request' may not publish" in refused.stderr
        dry = job.fails("E090", *words, "--dry-run", env=ci.runner.variables)
        assert "Without a token: the registry refused: jobs started by 'pull_request'" in dry.stderr
        check_secrets(ci, refused, dry)
    finally:
        ci.runner.claims = {}
    dry = job.ok(*words, "--dry-run", env=ci.runner.variables)
    assert dry.stdout.startswith("Would publish payments/pr 0.1.0")


@pytest.mark.slow
def test_dry_run_of_outsiders(job: World, tmp_path: Path) -> None:
    """[SURFACES: Sign-in] where all may read, a dry run in a pull request says what would be published."""
    with ExitStack() as stack:
        issuer = stack.enter_context(running_issuer())
        registry = stack.enter_context(open_registry(str(tmp_path / "registry.db")))
        registry.publishers.trust(SYSTEM, issuer.url, "acme/skills", "release.yml", "refunds")
        sign_in = SignInSettings(publishing=PublishingSettings(github=(issuer.url,)))
        url = stack.enter_context(serving_pages(registry, sign_in=sign_in))
        runner = stack.enter_context(running_runner(issuer))
        runner.claims = {"event_name": "pull_request"}
        run = job.ok("publish", "refunds", "--to", url, "--dry-run", env=runner.variables)
        assert "Without a token: the registry refused: jobs started by 'pull_request'" in run.stderr
        assert run.stdout.startswith("Would publish refunds 0.1.0")
        job.fails("E090", "publish", "refunds", "--to", url, env=runner.variables)


def test_workflows_to_copy() -> None:
    """[SURFACES: Sign-in] the workflows in the documentation are YAML, and ask for what they need."""
    page = Path(__file__).parents[2].joinpath("docs/registry-ci.md").read_text()
    github, gitlab = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", page, re.DOTALL))
    assert github["permissions"]["id-token"] == "write"
    assert gitlab["publish"]["id_tokens"]["SKILLC_ID_TOKEN"]["aud"].startswith("https://")
    for step in (github["jobs"]["publish"]["steps"][-1]["run"], gitlab["publish"]["script"][-1]):
        words = step.split()
        assert words[:2] == ["skc", "publish"]
        assert words[words.index("--to") + 1] == "https://skills.example.com"
        assert {word for word in words if word.startswith("-")} == {"--to", "--id"}
