"""After signing in, the reader returns to the page that was open, on this server and nowhere else."""

from __future__ import annotations

import pytest

from hosting.login_redirect import COOKIE, LONGEST, with_return_page

ORIGIN, BASE = "https://a.org", "/atlas"
PAGE = "/atlas/cell?layer=3&edits=ScaledHead(6%3B5)&text=%E4%BD%A0"
AWAY = [(b"location", b"https://id.school.org/authorize?state=1")]
HOME = [(b"location", b"/atlas/"), (b"content-length", b"0")]


def told(path: str, asked: dict[str, str], answer: list[tuple[bytes, bytes]], base: str = BASE) -> dict[str, str]:
    given = [(name.encode(), value.encode("latin-1")) for name, value in asked.items()]
    found = with_return_page(path, given, answer, ORIGIN, base)
    assert len(dict(found)) == len(found)
    return {name.decode(): value.decode() for name, value in found}


def test_who_signs_in_is_led_back_to_the_page_and_the_cookie_is_gone():
    left = told("/auth/login", {"referer": ORIGIN + PAGE}, AWAY)
    assert left["location"] == AWAY[0][1].decode()
    cookie, *attributes = left["set-cookie"].split("; ")
    assert attributes == ["Path=/atlas/oauth2callback", "Max-Age=600"]
    back = told("/oauth2callback", {"cookie": f"other=1; {cookie}"}, HOME)
    assert back["location"] == PAGE
    assert back["set-cookie"] == f"{COOKIE}=; Path=/atlas/oauth2callback; Max-Age=0"


def test_who_signs_out_stays_on_the_page():
    assert told("/auth/logout", {"referer": ORIGIN + PAGE}, HOME)["location"] == PAGE


def test_what_a_cookie_cannot_hold_is_written_otherwise():
    left = told("/auth/login", {"referer": f'{ORIGIN}/atlas/?edits=MeanHead(1,2);b&text="x'}, AWAY)
    assert left["set-cookie"].split("; ")[0] == f"{COOKIE}=/atlas/?edits=MeanHead(1%2C2)%3Bb&text=%22x"


@pytest.mark.parametrize(
    "referer", ["", "https://a.org.evil.org/atlas/cell", "https://evil.org/atlas/cell", "https://a.org/other", "https://a.org/atlas/",
                f"https://a.org/atlas/?text={'a' * LONGEST}"],
)  # fmt: skip  # one a line would be longer
def test_no_way_back_is_kept_from_elsewhere_or_where_there_is_none(referer):
    assert "set-cookie" not in told("/auth/login", {"referer": referer}, AWAY)


SLASHED = ["//evil.org/", "/atlas/\\evil.org", "/other", "https://evil.org"]
UNREADABLE = ["/atlas/\x7f", "/atlas/ä", "", "/atlas/" + "a" * LONGEST]


@pytest.mark.parametrize("cookie", SLASHED + UNREADABLE)
def test_a_cookie_leads_nowhere_else(cookie):
    assert told("/oauth2callback", {"cookie": f"{COOKIE}={cookie}"}, HOME)["location"] == "/atlas/"


def test_without_a_base_path_two_slashes_are_another_server():
    assert told("/oauth2callback", {"cookie": f"{COOKIE}=//evil.org"}, [(b"location", b"/")], "")["location"] == "/"


def test_other_answers_are_left_alone():
    assert told("/cell", {"referer": ORIGIN + PAGE}, HOME)["location"] == "/atlas/"
    assert "set-cookie" not in told("/oauth2callback", {"cookie": f"{COOKIE}={PAGE}"}, AWAY)
