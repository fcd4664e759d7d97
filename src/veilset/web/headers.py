"""What a browser may do with a page of ours: nothing but show it, run our one script, and talk to us.

`same-origin` is the strictest referrer policy here: with `no-referrer`, browsers send forms with the origin "null". The
addresses of search results must not even be looked up before they are clicked, so DNS prefetching is off.
"""

from __future__ import annotations

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
"""The content security policy."""

HEADERS = {
    "content-security-policy": "; ".join(f"{name} {value}" for name, value in POLICY.items()),
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), browsing-topics=()",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-dns-prefetch-control": "off",
    "x-frame-options": "DENY",
}
"""What stands above every answer."""

RAW = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
