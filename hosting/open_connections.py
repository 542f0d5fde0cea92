"""The sockets of a hosted server: how many are open, of each address and of all, from the moment they are accepted."""

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

RESERVE = 512  # open files of the process beside its connections: models, logs, the local port
TOGETHER = 16  # times what one address may leave unfinished, all of them together
AT_ONCE = 100  # connections that are refused before the event loop does something else


@functools.lru_cache(maxsize=10_000)
def source(address: str) -> str:
    """Whom an address stands for: itself, or of IPv6 the /64 that one household or laptop has to itself."""
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
    """Whether this address, or this /64, lies in one of these addresses and networks."""
    with suppress(ValueError):
        found = ipaddress.ip_network(source(address), strict=False)
        known = [ipaddress.ip_network(one, strict=False) for one in networks]
        return any(found.version == one.version and found.network_address in one for one in known)
    return False


class OpenConnections:
    """Counts them, and the bytes of messages that are not finished. Used by the event loop alone.

    A proxy's connections are somebody's: they have no share until the proxy says whose they are. An address of
    ``server.shared``, a school's say, has no share either, but the whole.
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
        """Whether it is believed when it says for whom it asks."""
        return is_among(address, self._proxies)

    def enter(self, address: str, *, forwarded: bool = False) -> bool:
        """Whether there is room for another one; then it is counted. ``forwarded``: its proxy's is counted already."""
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
        """One that was counted is closed."""
        who = source(address)
        self.count -= not forwarded
        if forwarded or not self.is_proxy(address):
            self._open[who] -= 1
            if not self._open[who]:
                del self._open[who]

    def hold(self, address: str, more: int) -> bool:
        """So many ``more`` bytes, or fewer, of unfinished messages; whether that is within what an address has."""
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
    """A listening socket that closes at once what there is no room for: before TLS, and before a byte is read.

    Should the process have no file descriptor left, one that was kept for it is used to turn connections away: asyncio
    (3.11) would write two thousand lines a second, and accept nobody.
    """

    def __init__(self, listening: socket.socket, connections: OpenConnections, meter: Meter) -> None:
        super().__init__(listening.family, listening.type, listening.proto, listening.detach())
        self.setblocking(False)
        self._connections, self._meter = connections, meter
        self._spare = os.open(os.devnull, os.O_RDONLY)

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection that there is room for. Raises BlockingIOError where there is none."""
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
    """Let this process, and what takes its place, open as many files as it needs. Raises WrongSetting."""
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
