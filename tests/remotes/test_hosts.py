"""Which hosts may be asked, and how a person names them."""

from __future__ import annotations

from skillc.remotes.http import Hosts, host_of, parse_host
from tests.support.cases import each


@each(
    ("url", "host"),
    [
        ("https://Example.com/x", "example.com"),
        ("https://example.com.:443/", "example.com"),
        ("http://example.com:80", "example.com"),
        ("https://example.com:8443", "example.com:8443"),
        ("http://example.com:443", "example.com:443"),
        ("https://user:pass@example.com/", "example.com"),
        ("http://[::1]:8000/", "[::1]:8000"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("https://example.com:99999/", ""),
        ("no address", ""),
    ],
)
def test_host_of(url: str, host: str) -> None:
    """[SURFACES: Getting skills] A host is told by name and port, however it is written."""
    assert host_of(url) == host


def test_what_a_person_writes() -> None:
    """[SURFACES: Getting skills] A host, a host with a port, or an address; a refusal names the host and
    the option.
    """
    texts = ("CDN.Example.com", "cdn.example.com:443", "https://cdn.example.com/pdf.zip", "[::1]:80")
    assert [parse_host(text) for text in texts] == ["cdn.example.com"] * 3 + ["[::1]:80"]
    assert {parse_host(text) for text in ("", "a b", "a/b", "me@host", "host:port", "[::1")} == {""}
    hosts = Hosts.around("https://example.com/skills")
    assert hosts.refusal("https://example.com/x") == hosts.refusal("http://example.com/x") == ""
    assert "--allow-host example.com:8443" in hosts.refusal("https://example.com:8443/x")
    assert "--allow-host sub.example.com" in hosts.refusal("https://sub.example.com")
