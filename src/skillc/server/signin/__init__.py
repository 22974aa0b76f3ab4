"""Sign-in: sessions of browsers, OpenID Connect for people, and publishing from CI."""
