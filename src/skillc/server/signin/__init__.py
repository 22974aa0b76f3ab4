"""Who a visitor is: sessions of browsers, issuers of OpenID Connect, their claims, and the code flow."""
