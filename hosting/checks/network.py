"""Check that the server can listen on its address, and that the URL that visitors type leads there."""

from __future__ import annotations

import errno
import socket
from contextlib import closing, suppress
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from hosting.checks.finding import Findings, error, ok, warning
from hosting.metrics_server import HERE
from hosting.settings import NEAR, Server

EVERYWHERE = ("0.0.0.0", "::")
WIDE = {4: 8, 6: 32}  # prefix bits; a wider network is not a proxy's
UNUSED = ("192.0.2.1", "2001:db8::1")  # documentation addresses (RFC 5737, 3849) for a route lookup; nothing is sent


def network(server: Server) -> Findings:
    """Check address, port, local port, URL and proxies. Leaves nothing open."""
    yield from _port("server.port", server.address, server.port)
    if server.local_port:
        yield from _port("server.local_port", HERE, server.local_port)
        if server.local_port == server.port:
            yield error("server.local_port", f"{server.local_port} is also server.port; choose another one.")
    else:
        yield warning("server.local_port", "it is 0: there is no /healthz, no /metrics and no way to drain the server.")
    yield from _url(server)
    yield from _proxies(server)


def _port(what: str, address: str, port: int) -> Findings:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with closing(socket.socket(family, socket.SOCK_STREAM)) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as a server does that was just restarted
        try:
            tried.bind((address, port))
            tried.listen(1)
        except OSError as problem:
            yield error(what, _why(address, port, problem))
            return
    yield ok(what, f"{address}:{port} is free.")


def _why(address: str, port: int, problem: OSError) -> str:
    if problem.errno == errno.EADDRINUSE:
        return f"{address}:{port} is taken; another program, or this server already, listens there."
    if problem.errno == errno.EACCES:
        return f"only root may listen at port {port}; choose one from 1024, or put a proxy in front."
    if problem.errno == errno.EADDRNOTAVAIL:
        return f"this machine does not have the address {address}."
    return f"the server cannot listen at {address}:{port} ({problem.strerror or problem})."


def _url(server: Server) -> Findings:
    if not server.url:
        yield ok("server.url", f"visitors type {server.public}, which only this machine reaches.")
        return
    host = urlsplit(server.url).hostname or ""
    found = _addresses(host)
    if not found:
        yield error("server.url", f"the name {host} leads to no address; check it, and the school's DNS.")
        return
    named = ", ".join(sorted(found))
    own = _own_addresses()
    behind = bool(server.proxies)
    if not behind and server.address in NEAR and not found <= {"127.0.0.1", "::1"}:
        yield error(
            "server.url",
            f"{host} is {named}, but the server listens on {server.address} alone; set server.address to "
            "“0.0.0.0”, or name the proxy in server.proxies.",
        )
    elif not behind and server.address not in (*EVERYWHERE, *NEAR) and server.address not in found:
        yield error("server.url", f"{host} is {named}, but the server listens on {server.address}.")
    elif not found & own and not behind:
        yield warning("server.url", f"{host} is {named}, none of this machine's addresses: a router has to lead here.")
    else:
        yield ok("server.url", f"{host} is {named}.")
    if not behind and _port_of(server) != server.port:
        yield error("server.url", f"visitors come to port {_port_of(server)}, but the server listens at {server.port}.")
    if not server.secure and host not in NEAR:
        yield warning("server.url", "it begins with http://: whoever shares the network can read what visitors type.")


def _port_of(server: Server) -> int:
    parts = urlsplit(server.public)
    return parts.port or (443 if parts.scheme == "https" else 80)


def _addresses(host: str) -> frozenset[str]:
    try:
        return frozenset(str(one[4][0]) for one in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM))
    except (OSError, UnicodeError):
        return frozenset()


def _own_addresses() -> frozenset[str]:
    """Addresses from which this machine would send."""
    own = {"127.0.0.1", "::1"}
    for far in UNUSED:
        family = socket.AF_INET6 if ":" in far else socket.AF_INET
        with suppress(OSError), closing(socket.socket(family, socket.SOCK_DGRAM)) as one:
            one.connect((far, 9))
            own.add(str(one.getsockname()[0]))
    return frozenset(own)


def _proxies(server: Server) -> Findings:
    for one in server.proxies:
        net = ip_network(one, strict=False)
        if net.prefixlen < WIDE[net.version]:
            yield error("server.proxies", f"{one} is nearly everybody: a visitor could pretend any address.")
        elif server.address in NEAR and not any(ip_address(near) in net for near in ("127.0.0.1", "::1")):
            yield error(
                "server.proxies", f"{one} cannot reach a server that listens on {server.address}; set server.address."
            )
        elif net.num_addresses > 1:
            yield warning("server.proxies", f"every machine of {one} is believed when it names a visitor's address.")
        else:
            yield ok("server.proxies", f"{one} is believed when it names a visitor's address.")
    if server.proxies and server.certificate:
        yield warning("server.proxies", "there are a proxy and a certificate; usually only one of them speaks TLS.")
    if not server.proxies and server.secure and not server.certificate:
        yield error(
            "server.proxies",
            "server.url begins with https://, but there is neither a certificate nor a proxy that speaks TLS.",
        )
