"""OpenID Connect without HTTP endpoints of our own: issuers and their keys, claims, and the code flow."""
