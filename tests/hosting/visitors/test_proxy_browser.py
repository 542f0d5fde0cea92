"""A class through a TLS proxy for an app below a path: the nginx configuration of deploy/, unchanged."""

from __future__ import annotations

import asyncio
import csv
import http.client
import io
import json
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from itertools import count
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Page, Response, expect
from websockets.asyncio.client import connect as dial
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from classroom.codes import MOST_MISSES
from classroom.qr import qr_picture
from hosting.login_redirect import LONGEST
from tests.browser import PATIENCE, Watch, free_port
from tests.hosting.visitors.down import down
from tests.hosting.visitors.hosted import Hosted, hosted_app, opened
from tests.hosting.visitors.nginx import Nginx, documented_server, find_nginx
from tests.hosting.visitors.phones import type_token
from tests.pages.test_browser_class import PHONE, click, click_head
from tests.pages.visiting import wait_for_rest
from ui.classroom.sidebar import AGAIN

SAID, TYPED, ASKED = "Zyzzyva", "quokka", "zeppelin"  # on a phone, by the teacher, in addresses that nobody answers
TEXT = f"the {TYPED} sat " * 20
REQUESTS = 600  # of an address in a minute
SHAKING = {  # hands, for a WebSocket (RFC 6455)
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
PHONES = 500
BACK_IN = 10.0  # seconds after the teacher, by the issue


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    """The settings that deploy/ has for a proxy, and teachers who stay signed in."""
    find_nginx()
    folder, port = tmp_path_factory.mktemp("proxied"), free_port()
    (folder / "cookie").write_text(secrets.token_hex(32))
    more = {
        "server": {"certificate": "", "key": "", **documented_server(port)},
        "limits": {"requests": REQUESTS, "address_phones": PHONES},
        "sign_in": {"cookie_secret_file": str(folder / "cookie")},
    }
    with hosted_app(folder, sessions=3, **more) as held:
        yield held


@pytest.fixture
def nginx(hosted: Hosted) -> Iterator[Nginx]:
    started = before(hosted, hosted.port)
    yield started
    started.kill()


def before(hosted: Hosted, port: int) -> Nginx:
    """The proxy of this server, as if it were at that port."""
    folder = hosted.folder
    return Nginx(folder, urlsplit(hosted.url).port or 0, port, folder / "certificate.pem", folder / "key.pem")


# -- without a browser ------------------------------------------------------------------------------------------------


def connection(hosted: Hosted, address: str) -> http.client.HTTPSConnection:
    """To the proxy, of somebody at this address of this machine."""
    to = urlsplit(hosted.url)
    more: Any = {"timeout": PATIENCE / 1000, "source_address": (address, 0), "context": hosted.trust}
    return http.client.HTTPSConnection(to.netloc, **more)


def answered(hosted: Hosted, path: str, address: str = "127.0.0.1", **headers: str) -> http.client.HTTPResponse:
    """What the proxy says of this path below the base path."""
    line = connection(hosted, address)
    line.request("GET", f"{urlsplit(hosted.url).path}{path}", headers=headers)
    answer = line.getresponse()
    answer.read()
    line.close()
    return answer


def tried(hosted: Hosted, code: str, address: str = "127.0.0.1", origin: str = "", forwarded: str = "") -> str:
    """What somebody is told who tries this code. Raises InvalidStatus."""
    given: Any = {"origin": origin or hosted.url.removesuffix("/attention"), "ssl": hosted.trust}
    given["additional_headers"] = {"X-Forwarded-For": forwarded} if forwarded else {}
    talk = f"{hosted.url.replace('https', 'wss')}/classroom/talk"
    given["open_timeout"] = PATIENCE / 1000
    with connect(talk, legacy=True, source_address=(address, 0), **given) as line:
        line.send(json.dumps({"kind": "join", "code": code}))
        return json.loads(line.recv(PATIENCE / 1000))["words"]


def test_only_a_page_of_this_very_site_opens_a_websocket_through_the_proxy(hosted: Hosted, nginx: Nginx):
    assert tried(hosted, "AAAAAA") == "There is no room with this code."
    for origin in ("https://elsewhere.org", "https://127.0.0.1", f"http://127.0.0.1:{hosted.port}"):
        with pytest.raises(InvalidStatus, match="403"):
            tried(hosted, "AAAAAA", origin=origin)
    assert answered(hosted, "/", Host="elsewhere.org").status == 421
    assert answered(hosted, "/_stcore/metrics").status == 404


def test_who_types_the_name_alone_is_led_to_the_app_and_to_tls(hosted: Hosted, nginx: Nginx):
    line = connection(hosted, "127.0.0.1")
    line.request("GET", "/")
    answer = line.getresponse()
    assert (answer.status, answer.headers["location"]) == (302, f"{hosted.url}/")
    line.close()
    assert redirected(nginx, "/") == (301, "https://atlas.school.org/")
    assert redirected(nginx, "/attention/join/ACDEFG") == (301, "https://atlas.school.org/attention/join/ACDEFG")


def test_a_proof_for_lets_encrypt_is_answered_without_tls(hosted: Hosted, nginx: Nginx):
    """Certbot's, which writes it below the folder that docs/hosting.md names."""
    proof = hosted.folder / "www" / ".well-known" / "acme-challenge" / "token"
    proof.parent.mkdir(parents=True)
    proof.write_text("proof")
    line = http.client.HTTPConnection("127.0.0.1", nginx.plain, timeout=PATIENCE / 1000)
    line.request("GET", "/.well-known/acme-challenge/token", headers={"Host": "atlas.school.org"})
    answer = line.getresponse()
    assert (answer.status, answer.read()) == (200, b"proof")
    line.close()


def test_who_comes_while_the_app_is_away_reads_a_sentence_and_comes_back_by_itself(hosted: Hosted, nginx: Nginx):
    nginx.kill()
    alone = before(hosted, free_port())
    line = connection(hosted, "127.0.0.1")
    line.request("GET", "/attention/cell?text=x")
    answer = line.getresponse()
    words = answer.read().decode()
    assert (answer.status, answer.headers["refresh"], answer.headers["cache-control"]) == (502, "5", "no-store")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "Attention Atlas is restarting. This page opens by itself." in words
    assert "正在重新启动，本页稍后会自动打开。" in words
    line.close()
    alone.kill()


def redirected(nginx: Nginx, path: str) -> tuple[int, str]:
    """What the proxy answers without TLS, and where to."""
    line = http.client.HTTPConnection("127.0.0.1", nginx.plain, timeout=PATIENCE / 1000)
    line.request("GET", path, headers={"Host": "atlas.school.org"})
    answer = line.getresponse()
    answer.read()
    line.close()
    return answer.status, answer.headers["location"]


def test_limits_are_of_the_address_that_the_proxy_sees_and_not_of_one_that_a_visitor_names(
    hosted: Hosted, nginx: Nginx
):
    named = (f"10.0.{number // 250}.{number % 250}" for number in count())
    wrong = [
        tried(hosted, f"AAAA{number}", "127.0.0.2", forwarded=next(named)) for number in range(10, 11 + MOST_MISSES)
    ]
    assert wrong[-2:] == ["There is no room with this code.", "Too many wrong codes from here: wait a minute."]
    assert tried(hosted, "AAAA99", "127.0.0.3") == "There is no room with this code."
    line, statuses = connection(hosted, "127.0.0.2"), list[int]()
    while 429 not in statuses and len(statuses) < 2 * REQUESTS:
        line.request("GET", "/attention/_stcore/health", headers={"X-Forwarded-For": next(named)})
        answer = line.getresponse()
        answer.read()
        statuses.append(answer.status)
    assert (set(statuses[:-1]), statuses[-1]) == ({200}, 429)
    assert answered(hosted, "/_stcore/health", "127.0.0.3").status == 200


def test_headers_as_long_as_they_may_be_pass_the_proxy_both_ways(hosted: Hosted, nginx: Nginx):
    """The cookies of who is signed in, to a page and to a WebSocket; and the way back of who signs in."""
    cookies, origin = f"a={'b' * 20_000}", hosted.url.removesuffix("/attention")
    assert answered(hosted, "/privacy", Cookie=cookies).status == 200
    assert answered(hosted, "/classroom/talk", **SHAKING, Origin=origin, Cookie=cookies).status == 101
    back = "/attention/?text=".ljust(LONGEST, "y")
    answer = answered(hosted, "/auth/login", Referer=f"{origin}{back}")
    assert (answer.status, answer.headers["location"]) == (302, back)


@pytest.mark.long
def test_a_room_of_500_phones_and_who_explores_beside_it_fit_through_the_proxy(hosted: Hosted, nginx: Nginx):
    """Each has two connections of nginx's; Debian's own settings end at 381 for each worker."""
    talk, origin = f"{hosted.url.replace('https', 'wss')}/classroom/talk", hosted.url.removesuffix("/attention")

    async def crowd() -> int:
        dialling = asyncio.Semaphore(20)

        async def phone(stack: AsyncExitStack) -> None:
            async with dialling:
                given: Any = {"origin": origin, "ssl": hosted.trust, "open_timeout": 60}
                await stack.enter_async_context(dial(talk, **given))

        async with AsyncExitStack() as stack:
            await asyncio.gather(*(phone(stack) for _ in range(PHONES)))
            status = await asyncio.to_thread(answered, hosted, "/_stcore/health")
            assert status.status == 200
            return int(float(re.search(r"^atlas_connections (\d+)", hosted.metrics(), re.MULTILINE)[1]))

    assert asyncio.run(crowd()) >= PHONES


def logs(nginx: Nginx, wanted: list[str]) -> None:
    """Its last answers had these statuses; a line comes after its answer."""
    deadline = time.monotonic() + PATIENCE / 1000
    while (logged := [line.split()[-2] for line in nginx.logged()][-len(wanted) :]) != wanted:
        assert time.monotonic() < deadline, logged
        time.sleep(0.05)


def test_no_address_with_what_somebody_typed_is_in_a_log_of_the_proxy(hosted: Hosted, nginx: Nginx):
    """Answered, refused by the proxy itself, or with nobody behind it."""
    query = f"?text={ASKED}"
    assert answered(hosted, f"/privacy{query}", Referer=f"{hosted.url}/{query}").status == 200
    assert answered(hosted, f"/{query}{'y' * 33_000}").status == 414
    assert answered(hosted, f"/{query}", Referer=f"{hosted.url}/{query}{'y' * 33_000}").status == 400
    assert answered(hosted, f"{query}").status == 301  # to the path with a slash
    assert answered(hosted, "/join/ACDEFG").status == 200
    assert redirected(nginx, f"/attention/{query}")[0] == 301
    logs(nginx, ["200", "414", "400", "301", "200"])  # before it is killed, or it never would
    nginx.kill()
    alone = before(hosted, free_port())
    assert answered(hosted, f"/privacy{query}", Referer=f"{hosted.url}/{query}").status == 502
    logs(alone, ["200", "414", "400", "301", "200", "502"])
    alone.kill()
    hosted.is_nowhere(ASKED)
    hosted.is_nowhere("ACDEFG")


# -- a class ----------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_class_goes_through_the_proxy_and_on_after_it_and_the_server_were_killed(
    hosted: Hosted, nginx: Nginx, new_page: Callable[..., Page], watch: Watch
):
    teacher, phone = new_page(), new_page(**PHONE)
    lines, tiles = list[str](), list[Response]()
    phone.on("websocket", lambda line: lines.append(line.url))
    phone.on("response", lambda answer: "/maps/" in answer.url and tiles.append(answer))
    _sign_in(hosted, teacher)
    code = _open_room(hosted, teacher, phone)
    assert lines == [f"{hosted.url.replace('https', 'wss')}/classroom/talk"]
    _follow(teacher, phone, 5, 2)
    _answer(teacher, phone)
    _look_at_a_long_map(hosted, teacher, phone, tiles)
    assert watch.errors == []
    with down(nginx):
        expect(phone.locator(".lost")).to_contain_text("No connection")
    expect(phone.locator(".lost")).to_have_text("")
    _follow(teacher, phone, 2, 1)
    _kill_the_server(hosted, teacher, phone, code)
    _follow(teacher, phone, 3, 5)
    _answer(teacher, phone)
    for words in (TYPED, SAID):
        hosted.is_nowhere(words)
    watch.errors.clear()  # of the connections to what was killed


def _sign_in(hosted: Hosted, teacher: Page) -> None:
    """From the longest address that there is a way back to; the path that visitors type has no slash at its end."""
    statuses = set[int]()
    teacher.on("response", lambda answer: statuses.add(answer.status))
    opened(teacher, f"{hosted.url}?layer=6&head=5&text={quote(TEXT)}")
    assert urlsplit(teacher.url).path == "/attention/"
    teacher.evaluate(f"history.replaceState(null, '', `${{location.href}}&beside=`.padEnd({LONGEST - 9}, 'y'))")
    foot = teacher.locator(".st-key-visitors_foot")
    foot.get_by_role("button", name="For teachers: sign in").click()
    expect(foot).to_contain_text("Ada teaches")
    expect(teacher).to_have_url(re.compile(re.escape(f"{hosted.url}/?") + ".*layer=6"))
    assert set(hosted.provider.redirects) == {f"{hosted.url}/oauth2callback"}
    kept = teacher.context.cookies()
    assert any(one.get("name") == "_streamlit_user" for one in kept)
    assert [one for one in kept if not one.get("secure") or one.get("sameSite") != "Lax"] == []
    assert statuses <= {200, 301, 302, 304}
    wait_for_rest(teacher)


def _open_room(hosted: Hosted, teacher: Page, phone: Page) -> str:
    """A phone opens the link that the projector shows."""
    click(teacher, "open_room")
    code, short = teacher.locator(".atlas-huge").inner_text(), teacher.locator(".atlas-large b").inner_text()
    assert f"https://{short}" == f"{hosted.url}/join"
    assert teacher.locator(".atlas-qr").get_attribute("src") == qr_picture(f"https://{short}/{code}")
    click(teacher, "hide_code")
    phone.goto(f"https://{short}/{code}")
    expect(teacher.locator(".room-link[data-there='1']")).to_have_text("1 here")
    return code


def _follow(teacher: Page, phone: Page, layer: int, head: int) -> None:
    """A click on a head of the first page."""
    wait_for_rest(teacher)
    click_head(teacher, layer, head)
    expect(phone.locator(".head-grid")).to_have_attribute("data-selected", f"{layer},{head}")
    wait_for_rest(teacher)


def _answer(teacher: Page, phone: Page) -> None:
    """With a name; the file has it."""
    click(teacher, "ask_class")
    if not teacher.locator(".st-key-ask_names input").is_checked():
        teacher.locator(".st-key-ask_names label").first.click()
    wait_for_rest(teacher)
    teacher.locator(".st-key-ask_next button").click()
    phone.get_by_label("Your name").fill(SAID)
    label = type_token(phone, "was")
    expect(phone.locator(".answer")).to_contain_text(label)
    expect(teacher.locator(".class-answered")).to_have_text("1")
    click(teacher, "reveal")
    with teacher.expect_download() as download:
        click(teacher, "results")
    rows = list(csv.reader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"))))
    assert [row[2:5] for row in rows if SAID in row] == [[SAID, "1", label]]
    click(teacher, "drop_poll")


def _look_at_a_long_map(hosted: Hosted, teacher: Page, phone: Page, tiles: list[Response]) -> None:
    """The phone asks for its parts itself."""
    teacher.locator(".st-key-navigation a").get_by_text("Long texts", exact=True).click()
    expect(phone.locator(".long-map[data-waiting='false'][data-missing='0']")).to_be_visible()
    of_a_class = [tile for tile in tiles if tile.url.startswith(f"{hosted.url}/join/maps/tile/")]
    assert of_a_class
    assert {(tile.status, tile.headers.get("content-encoding")) for tile in tiles} == {(200, "gzip")}
    teacher.locator(".st-key-navigation a").get_by_text("Heads", exact=True).click()
    expect(phone.locator(".head-grid")).to_be_visible()


def _kill_the_server(hosted: Hosted, teacher: Page, phone: Page, code: str) -> None:
    """The teacher is signed in still, and the room is back with the page."""
    with down(hosted.serving):
        expect(phone.locator(".lost")).to_contain_text("No connection")
    expect(teacher.locator(".st-key-room_box").get_by_text(AGAIN)).to_be_visible(timeout=2 * PATIENCE)
    at = time.monotonic()
    expect(teacher.locator(".room-link[data-there='1']")).to_have_text("1 here")
    expect(phone.locator(".lost")).to_have_text("")
    assert time.monotonic() - at < BACK_IN
    expect(teacher.locator(".atlas-code")).to_have_text(code)
    expect(teacher.locator(".st-key-visitors_foot")).to_contain_text("Ada teaches")
