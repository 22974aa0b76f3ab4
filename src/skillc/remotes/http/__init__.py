"""HTTP: sessions with their limits, redirects and downloads; addresses, hosts, credentials, secrets.

Every request of skc to another place goes through it. Knows nothing of skills.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.remotes.http.addresses import LOOPBACK, guess_type, is_plain, resolve_address
    from skillc.remotes.http.credentials import (
        BearerAuth,
        Credential,
        HeaderAuth,
        StoredAuth,
        check_token,
        choose_registry,
        find_token,
        forget_credential,
        parse_registry,
        read_credentials,
        store_credential,
    )
    from skillc.remotes.http.hosts import SETTING, Hosts, explain_failure, host_of, parse_host
    from skillc.remotes.http.response import BUSY, Refused, Response, read_json
    from skillc.remotes.http.secrets import hide_secrets, private_logs
    from skillc.remotes.http.session import JSON, MAX_ATTEMPTS, REDIRECTS, TIME_OUT, Session, is_secure
    from skillc.remotes.http.traffic import Download, describe_downloads, follow_download
else:
    __getattr__, __all__ = front_door(__name__)
