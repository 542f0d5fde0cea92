"""A small OpenID Connect provider on 127.0.0.1, with the code flow and PKCE, for one user whom a test names.

It is strict where a wrong client would slip through: a code is good once, for its own redirect address and verifier.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "atlas", "known to both"


@dataclass
class Provider:
    """``user`` are the claims of whoever signs in next; ``redirects`` where it sent browsers.

    ``access`` is a token as long as of somebody in many groups; Streamlit (1.67) keeps it in cookies.
    """

    url: str
    user: dict[str, Any]
    access: str = field(default_factory=lambda: secrets.token_urlsafe(6000))
    redirects: list[str] = field(default_factory=list[str])
    codes: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}))

    @property
    def metadata(self) -> str:
        return f"{self.url}/.well-known/openid-configuration"

    def about(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the browser goes on to: back, with a code."""
        assert asked["client_id"] == CLIENT
        assert "openid" in asked["scope"].split()
        code = secrets.token_urlsafe()
        self.codes[code] = asked
        self.redirects.append(asked["redirect_uri"])
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, given: dict[str, str], authorization: str) -> dict[str, Any]:
        """The signed identity for a code. Raises KeyError, AssertionError for what is not right."""
        asked = self.codes.pop(given["code"])
        expected = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        assert authorization == f"Basic {expected}"
        assert given["redirect_uri"] == asked["redirect_uri"]
        digest = hashlib.sha256(given["code_verifier"].encode()).digest()
        assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == asked["code_challenge"]
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "sub": "7", "iat": now, "exp": now + 600, "nonce": asked["nonce"]}
        token = jwt.encode({"alg": "RS256", "kid": "one"}, claims | self.user, self.key)
        return {"access_token": self.access, "token_type": "Bearer", "expires_in": 600, "id_token": token}


@contextmanager
def oidc_provider(**user: Any) -> Generator[Provider]:
    """It runs until the end; ``user`` are the claims of who signs in."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            if address.path == "/authorize":
                asked = {name: values[0] for name, values in parse_qs(address.query).items()}
                self.send_response(302)
                self.send_header("location", provider.authorize(asked))
                self.end_headers()
                return
            told = {"/.well-known/openid-configuration": provider.about(), "/keys": {"keys": [provider.key.as_dict()]}}
            self._say(200 if address.path in told else 404, told.get(address.path, {}))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            given = {name: values[0] for name, values in parse_qs(body).items()}
            try:
                self._say(200, provider.token(given, self.headers.get("authorization", "")))
            except (KeyError, AssertionError):
                self._say(400, {"error": "invalid_grant"})

        def _say(self, status: int, told: dict[str, Any]) -> None:
            body = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is worth a line."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    provider = Provider(f"http://127.0.0.1:{server.server_port}", dict(user))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
