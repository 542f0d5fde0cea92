"""A hosted server in a real browser, from its settings file to what a visitor sees."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from pages.entries import ENTRIES
from tests.axe import found_in_both
from tests.browser import Watch
from tests.hosting.visitors.hosted import Hosted, hosted_app, opened
from tests.hosting.visitors.refused_frames import say_what_is_refused
from tests.pages.visiting import click_head, end_room, eventually, expect_sentence, type_text, wait_for_rest

TYPED = "My quokka eats zeppelins"
SAID = "Zyzzyva"  # on a phone
COLLECT = """window.violations = []
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.violatedDirective} ${event.blockedURI}`))"""
EVERY = (*(entry.address for entry in ENTRIES), "kv_cache?kv_cache.view=bytes", "masks?masks.view=sweep", "privacy")
OFTEN = ("kv_cache?kv_cache.view=bytes", "privacy")  # looked at in each run of the tests


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    """A server with places for two."""
    with hosted_app(tmp_path_factory.mktemp("hosted"), sessions=2, limits={"keep": 10}) as held:
        yield held


def test_a_certificate_of_its_own_serves_pages_rooms_and_cookies(hosted: Hosted):
    with hosted.get("") as answer:
        assert answer.headers["strict-transport-security"]
        assert "wss://127.0.0.1" in answer.headers["content-security-policy"]
    with hosted.get("_stcore/health") as answer:
        cookies = answer.headers.get_all("set-cookie")
        assert cookies
        assert all("Secure" in one and "SameSite" in one for one in cookies)
    with hosted.get("join/AAAAAA") as answer:
        assert b'data-root="/atlas"' in answer.read()
    with pytest.raises(URLError, match="CERTIFICATE_VERIFY_FAILED"):
        urllib.request.urlopen(hosted.url)  # whom nobody told to believe it
    with pytest.raises((URLError, ConnectionError)):
        urllib.request.urlopen(hosted.url.replace("https", "http"))
    address, origin = f"{hosted.url.replace('https', 'wss')}/classroom/talk", hosted.url.removesuffix("/atlas")
    for spoken_from, said in {origin: "There is no room with this code.", origin.replace("https", "http"): ""}.items():
        given: Any = {"origin": spoken_from, "ssl": hosted.trust, "legacy": True}
        with suppress(InvalidStatus), connect(address, **given) as line:
            line.send(json.dumps({"kind": "join", "code": "AAAAAA"}))
            assert json.loads(line.recv(5))["words"] == said


@pytest.mark.parametrize("path", ["", "/", "/?lang=zh", "/atlas"])
def test_who_types_the_name_alone_is_led_to_the_base_path(hosted: Hosted, path: str):
    with urllib.request.urlopen(hosted.url.removesuffix("/atlas") + path, context=hosted.trust) as answer:
        assert answer.url == f"{hosted.url}/"
        assert b"<title>Streamlit</title>" in answer.read()
    with pytest.raises(HTTPError, match="404"):
        urllib.request.urlopen(f"{hosted.url.removesuffix('/atlas')}/join/AAAAAA", context=hosted.trust)


@pytest.mark.parametrize("addresses", [OFTEN, pytest.param(EVERY, marks=pytest.mark.long)], ids=["often", "every"])
def test_no_page_asks_for_what_the_policy_forbids(
    hosted: Hosted, page: Page, watch: Watch, axe_if_there: str, addresses: tuple[str, ...]
):
    """Pages as they open; the views of Plotly, tables and files beside them. Axe looks at the page on privacy, too."""
    page.add_init_script(COLLECT)
    violations: dict[str, list[str]] = {}
    for address in addresses:
        if address == "privacy":
            page.goto(f"{hosted.url}/{address}")
            assert found_in_both(page, axe_if_there) == []
        else:
            opened(page, f"{hosted.url}/{address}")
            expect(page.get_by_test_id("stException")).to_have_count(0)
        violations[address] = page.evaluate("window.violations")
    opened(page, f"{hosted.url}/?text={'+and'.join(['one'] * 40)}")
    page.get_by_text("As tables", exact=True).click()
    page.get_by_test_id("stDataFrame").first.wait_for()
    violations["tables"] = page.evaluate("window.violations")
    assert {address: found for address, found in violations.items() if found} == {}
    watch.errors[:] = [one for one in watch.errors if "_stcore/h" not in one]  # see tests/browser.py


def test_models_and_texts_beyond_the_limits_are_one_sentence(hosted: Hosted, page: Page, watch: Watch):
    opened(page, f"{hosted.url}/?model=/etc")
    expect_sentence(page, "This server offers only these models: default, encoder, translator.")
    assert "/etc" not in page.locator("[data-testid=stMain]").inner_text()
    opened(page, f"{hosted.url}/?model=someone/something&lang=zh")
    expect_sentence(page, "default, encoder, translator")
    opened(page, f"{hosted.url}/")
    type_text(page, "word " * 500)
    expect_sentence(page, "The text has 2,500 characters, and this server reads up to 2,000. Shorten it.")
    type_text(page, TYPED)
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    page.locator(".head-map[data-painted]").wait_for()


def test_below_a_base_path_the_first_page_asks_for_another_heads_map_where_the_server_is(hosted: Hosted, page: Page):
    opened(page, f"{hosted.url}/")
    page.locator(".head-map[data-painted]").wait_for()
    with page.expect_response("**/maps/head/**") as answered:
        click_head(page, 2, 5)
    assert (answered.value.status, urlsplit(answered.value.url).path[:16]) == (200, "/atlas/maps/head")


def test_scripts_of_components_are_kept_for_good_under_their_digest(hosted: Hosted, page: Page):
    with page.expect_response("**/atlas/scripts/head_map.*.js") as answered:
        opened(page, f"{hosted.url}/")
    told = answered.value.headers
    assert "immutable" in told["cache-control"]
    assert told["content-encoding"] == "gzip"
    with hosted.get(urlsplit(answered.value.url).path.removeprefix("/atlas/")) as plain:
        assert b"head-map" in plain.read()
    with pytest.raises(HTTPError) as none:
        hosted.get("scripts/head_map.0000000000000000.js")
    assert none.value.code == 404
    assert none.value.headers["cache-control"] == "no-store"


@pytest.mark.long
def test_who_finds_no_place_waits_and_comes_in_by_itself(
    hosted: Hosted, axe_if_there: str, new_page: Callable[..., Page]
):
    eventually(new_page(), lambda: "atlas_sessions 0\n" in hosted.metrics(), bool)
    inside = [opened(new_page(), f"{hosted.url}/") for _ in range(2)]
    waiting = [new_page(), new_page(locale="zh-CN")]
    for page in waiting:
        page.goto(f"{hosted.url}/")
        page.get_by_test_id("stAlert").wait_for()
    expect(waiting[0].get_by_test_id("stAlert")).to_contain_text("You are next.")
    expect(waiting[1].get_by_test_id("stAlert")).to_contain_text("你前面还有 1 人")
    assert found_in_both(waiting[0], axe_if_there) == []
    assert "atlas_sessions 2\n" in hosted.metrics()
    assert "atlas_sessions_waiting 2\n" in hosted.metrics()
    inside[0].reload()
    inside[0].locator(".head-map[data-painted]").wait_for()  # a new session, in the place of the one before
    expect(waiting[0].get_by_test_id("stAlert")).to_contain_text("You are next.")
    inside[0].close()
    waiting[0].locator(".head-map[data-painted]").wait_for()
    expect(waiting[1].get_by_test_id("stAlert")).to_contain_text("下一个就是你")


def test_a_teacher_signs_in_and_out_and_a_student_is_no_teacher(
    hosted: Hosted, new_page: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
):
    page = new_page()
    opened(page, f"{hosted.url}/cell?layer=3&head=1")
    expect(page.locator(".st-key-open_room")).to_have_count(0)  # for teachers alone
    foot = page.locator(".st-key-visitors_foot")
    foot.get_by_role("button", name="For teachers: sign in").click()
    expect(foot).to_contain_text("Ada teaches")
    expect(page).to_have_url(re.compile(re.escape(f"{hosted.url}/cell?") + ".*layer=3"))  # where the teacher was
    expect(page.locator(".atlas-title")).to_contain_text("Where does one number come from?")
    _hold_a_class(hosted, page, new_page())
    assert hosted.provider.redirects == [f"{hosted.url}/oauth2callback"]
    cookies = {one.get("name"): one for one in page.context.cookies()}
    assert cookies["_streamlit_user"].get("httpOnly")
    assert {one.get("sameSite") for one in cookies.values()} == {"Lax"}
    assert all(one.get("secure") for one in cookies.values())
    foot.get_by_role("button", name="sign out").click()
    expect(foot.get_by_role("button", name="For teachers: sign in")).to_be_visible()
    monkeypatch.setitem(hosted.provider.user, "email", "pupil@elsewhere.org")
    foot.get_by_role("button", name="For teachers: sign in").click()
    expect(foot).to_contain_text("not on this server’s list of teachers")


def _hold_a_class(hosted: Hosted, page: Page, phone: Page) -> None:
    """A guest with the code follows, over TLS and below the base path."""
    wait_for_rest(page)
    page.locator(".st-key-open_room button").click()
    code = page.locator(".atlas-huge").inner_text()
    page.locator(".st-key-hide_code button").click()
    phone.goto(f"{hosted.url}/join/{code}")
    expect(phone.locator(".cell-steps")).to_be_visible()
    expect(phone.locator("header a")).to_have_attribute("href", re.compile("^/atlas/cell[?].*layer=3"))
    _answer(page, phone)
    say_what_is_refused(hosted.url, hosted.trust, code, SAID)
    hosted.is_nowhere(SAID)
    end_room(page)
    expect(phone.locator(".problem")).to_have_text("The teacher has ended this room.")


def _answer(page: Page, phone: Page) -> None:
    """By a name and a token, after half of another one; and the teacher reveals it."""
    page.locator(".st-key-ask_class button").first.click()
    page.locator(".st-key-ask_names label").first.click()
    wait_for_rest(page)
    page.locator(".st-key-ask_next button").click()
    phone.get_by_label("Your name").fill(f"{SAID} the name")
    phone.get_by_label("Type a token").fill(f"{SAID}-half")
    phone.wait_for_timeout(500)  # until the half is told
    phone.get_by_label("Type a token").fill("was")
    phone.locator(".options button", has_text=re.compile("^·was$")).click()
    expect(page.locator(".class-answered")).to_have_text("1")
    page.locator(".st-key-reveal button").click()
    expect(page.locator(".st-key-results button")).to_be_visible()


def test_what_was_typed_is_in_no_log_and_no_file(hosted: Hosted, page: Page):
    """Typed, in an address, in one that cannot be read, and by HTTP to addresses that are closed or not there."""
    opened(page, f"{hosted.url}/film?text={TYPED.replace(' ', '+')}&film.steps={TYPED.split()[1]}")
    type_text(page, TYPED + " again")
    wait_for_rest(page)
    for path in ("nowhere", "_stcore/metrics", "maps/tile/1"):
        with suppress(HTTPError):
            hosted.get(f"{path}?text=quokka")
    hosted.is_nowhere("quokka")
