"""The browser fixtures notice what they promise to notice."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser import find_chromium, running_app


def test_without_chromium_browser_tests_are_skipped_with_the_reason(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install chromium"):
        find_chromium()


def test_without_chromium_browser_tests_fail_in_continuous_integration(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no Chromium"):
        find_chromium()


def test_an_app_that_cannot_start_fails_with_its_log(tmp_path):
    with (
        pytest.raises(pytest.fail.Exception, match="does not exist"),
        running_app(tmp_path / "log", script=tmp_path / "no.py"),
    ):
        pass


def test_an_uncaught_error_and_a_console_error_are_noticed(static_page, watch):
    page = static_page("<script>console.error('written'); setTimeout(() => { throw Error('thrown') })</script>")
    page.wait_for_timeout(100)
    assert [error.split(" (")[0] for error in watch.errors] == ["console: written", "uncaught: thrown"]
    watch.errors.clear()


def test_a_request_to_another_machine_is_noticed_and_not_answered(static_page, watch, requests_outside):
    page = static_page("<p>alone")
    failed = page.evaluate("fetch('http://example.org/a.js').then(() => false, () => true)")
    assert failed
    assert requests_outside == ["http://example.org/a.js"]
    requests_outside.clear()
    watch.errors.clear()


def test_the_app_opens_and_everything_comes_from_this_machine(page, server, watch, requests_outside):
    page.goto(server.url)
    expect(page).to_have_title(re.compile("Attention Atlas"))
    page.get_by_test_id("stSidebar").wait_for()
    assert any(url.startswith("ws://127.0.0.1") for url in watch.requests)  # sockets are watched too
    assert requests_outside == []
