"""Limits on a hosted server's sockets: open connections in total and per address, counted from the moment of
acceptance.
"""

from __future__ import annotations

import errno
import functools
import ipaddress
import os
import socket
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from hosting.meter import Meter
from hosting.settings import Settings, WrongSetting, in_bytes

RESERVE = 512  # files of the process besides connections: models, logs, the local port
TOGETHER = 16  # total of unfinished bytes, as a multiple of one address's limit
AT_ONCE = 100  # connections that are refused before the event loop continues


@functools.lru_cache(maxsize=10_000)
def source(address: str) -> str:
    """The source that an address counts for: itself, or for IPv6 its /64, which one household or laptop owns."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, 64), strict=False))


def is_among(address: str, networks: Sequence[str]) -> bool:
    """Return True if this address or /64 lies in one of these addresses and networks."""
    with suppress(ValueError):
        found = ipaddress.ip_network(source(address), strict=False)
        known = [ipaddress.ip_network(one, strict=False) for one in networks]
        return any(found.version == one.version and found.network_address in one for one in known)
    return False


class OpenConnections:
    """Counts connections and the bytes of unfinished messages. Used by the event loop only.

    A proxy's connections have no share of their own until the proxy names the client. An address in ``server.shared``,
    such as a school's, is limited only by the total.
    """

    def __init__(self, settings: Settings, meter: Meter) -> None:
        limits = settings.limits
        self._all, self._share, self._bytes = (
            limits.connections,
            limits.address_connections,
            in_bytes(limits.unfinished),
        )
        self._proxies, self._shared = settings.server.proxies, settings.server.shared
        self._open: Counter[str] = Counter()
        self._unfinished: Counter[str] = Counter()
        self._all_unfinished = 0
        self._meter = meter
        self.count = 0

    def is_proxy(self, address: str) -> bool:
        """Return True if this address is trusted to name the client."""
        return is_among(address, self._proxies)

    def enter(self, address: str, *, forwarded: bool = False) -> bool:
        """Count another connection if there is room and return True.

        ``forwarded``: the proxy's connection is counted already.
        """
        who = source(address)
        if not forwarded:
            if self.count >= self._all:
                return self._refused("connections")
            if self.is_proxy(address):
                self.count += 1
                return True
        if self._open[who] >= self._share and not is_among(address, self._shared):
            return self._refused("address_connections")
        self._open[who] += 1
        self.count += not forwarded
        return True

    def leave(self, address: str, *, forwarded: bool = False) -> None:
        """Uncount a closed connection."""
        who = source(address)
        self.count -= not forwarded
        if forwarded or not self.is_proxy(address):
            self._open[who] -= 1
            if not self._open[who]:
                del self._open[who]

    def hold(self, address: str, more: int) -> bool:
        """Add ``more`` bytes (or subtract, if negative) of unfinished messages; returns True if within the address's
        limit.
        """
        who = source(address)
        self._all_unfinished += more
        self._unfinished[who] += more
        held = self._unfinished[who]
        if not held:
            del self._unfinished[who]
        fits = self._all_unfinished <= TOGETHER * self._bytes
        fits = fits and (held <= self._bytes or is_among(address, self._shared))
        return more <= 0 or fits or self._refused("unfinished")

    def _refused(self, by: str) -> bool:
        self._meter.count("refused_total", f'by="{by}"')
        return False


class _Counted(socket.socket):
    """A connection that is counted until it is closed."""

    held: tuple[OpenConnections, str] | None = None

    def close(self) -> None:
        super().close()
        if self.held is not None:
            connections, address = self.held
            self.held = None
            connections.leave(address)


class CountingListener(socket.socket):
    """A listening socket that closes connections beyond the limit at once, before TLS and before a byte is read.

    If the process runs out of file descriptors, a reserved one is used to turn connections away: asyncio (3.11) would
    log two thousand lines a second and accept nobody.
    """

    def __init__(self, listening: socket.socket, connections: OpenConnections, meter: Meter) -> None:
        super().__init__(listening.family, listening.type, listening.proto, listening.detach())
        self.setblocking(False)
        self._connections, self._meter = connections, meter
        self._spare = os.open(os.devnull, os.O_RDONLY)

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept the next connection within the limits. Raises BlockingIOError if there is none."""
        for _ in range(AT_ONCE):
            try:
                taken, address = super().accept()
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE):
                    raise
                self._turn_away()
                continue
            counted = _Counted(taken.family, taken.type, taken.proto, taken.detach())
            if self._connections.enter(address[0]):
                counted.held = self._connections, address[0]
                return counted, address
            counted.close()
        raise BlockingIOError

    def close(self) -> None:
        super().close()
        if self._spare >= 0:
            os.close(self._spare)
            self._spare = -1

    def _turn_away(self) -> None:
        self._meter.count("refused_total", 'by="files"')
        if self._spare >= 0:
            os.close(self._spare)
        try:
            with suppress(BlockingIOError):
                super().accept()[0].close()
        finally:
            self._spare = os.open(os.devnull, os.O_RDONLY)


def allow_files(connections: int) -> None:
    """Raise the open-file limit of this process and its successor as far as needed. Raises WrongSetting."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    needed = connections + RESERVE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
        return
    raise WrongSetting(
        f"limits.connections is {connections:,}, for which the server has to open {needed:,} files, and this system "
        f"lets it open {hard:,}: lower the setting, or raise the limit (LimitNOFILE={needed} in a systemd service)."
    )
