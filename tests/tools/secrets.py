"""Variables with secrets, and the secret in them."""

from __future__ import annotations

SECRET = "hunter2-planted"


SECRETS = [
    *("GITHUB_TOKEN", "GH_TOKEN", "NPM_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"),
    *("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_CLIENT_SECRET", "DATABASE_URL"),
    *("PGPASSWORD", "SSH_AUTH_SOCK", "NETRC", "LC_TOKEN", "LC_API_KEY", "LC_CLIENT_SECRET"),
    *("LC_PASSWORD", "LANG_KEY", "TERM_TOKEN", "LD_PRELOAD", "PYTHONSTARTUP", "BASH_ENV", "ENV"),
    *("GIT_SSH_COMMAND", "lc_all", "Path", "HOME_TOKEN", "LC_my_secret"),
]
