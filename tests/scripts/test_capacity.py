"""What a fleet needs: the document says what the script computes, and its parts agree with what was measured."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from model_runner.request import CaptureRequest
from scripts.capacity import BEGIN, DOCUMENT, END, Assumptions, Capacity, main, tables, with_tables
from tests.model_runner.cases import FAMILY, TEXT, runner_of

USUAL = Assumptions()


def test_the_document_holds_the_tables_of_the_script() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert with_tables(text, tables(USUAL)) == text, "run python -m scripts.capacity"
    assert text.count(BEGIN) == text.count(END) == 1


def test_a_token_of_a_capture_has_the_bytes_that_a_real_one_has() -> None:
    runner = runner_of(FAMILY["llama"])
    config = runner.engine.model.config
    capture = runner.capture(CaptureRequest(TEXT))
    small = replace(
        USUAL, layers=config.num_hidden_layers, heads=config.num_attention_heads, kv_heads=config.num_key_value_heads,
        d_head=config.head_dim, d_model=config.hidden_size, bytes_a_number=4,
    )  # fmt: skip
    assert config.num_key_value_heads < config.num_attention_heads
    assert Capacity(small).token_bytes * len(capture.tokens) == capture.nbytes


def test_the_time_of_a_forward_is_that_which_was_measured() -> None:
    assert Capacity(USUAL).forward_seconds(32_768) == pytest.approx(1.75, rel=0.05)  # docs/performance.md, on an H200


def test_one_token_takes_as_long_as_the_weights_are_read() -> None:
    assert Capacity(USUAL).forward_seconds(1) == pytest.approx(8.03e9 * 2 / 4.8e12 + 0.03)


def test_a_question_waits_as_long_as_in_a_simulated_queue() -> None:
    found = Capacity(replace(USUAL, texts=0.1))  # so that time decides, and there is waiting
    draw, now, free, waited, count = random.Random(0), 0.0, 0.0, 0.0, 200_000
    rates = [rate for rate, _ in found.services]
    for _ in range(count):
        now += draw.expovariate(sum(rates) * found.readers)
        waited += max(0.0, free - now)
        free = max(now, free) + draw.choices([taken for _, taken in found.services], rates)[0]
    assert found.wait == pytest.approx(waited / count, rel=0.05)


def test_the_bytes_of_a_reader_are_those_of_the_wire() -> None:
    """The benchmark's Llama: 525 kB for a head at 1,024 tokens, 31 kB for an outline, 339 kB for a token more."""
    none = replace(
        USUAL, layers=12, heads=12, kv_heads=12, d_head=64, d_model=768, vocabulary=32_000, bytes_a_number=4,
        captures=1e-9, clicks=1e-9, generated=1e-9,
    )  # fmt: skip
    for name, measured in (("clicks", 525e3), ("captures", 31e3), ("generated", 339e3)):
        assert Capacity(replace(none, **{name: 60.0})).network == pytest.approx(measured, rel=0.1), name


def test_a_fleet_grows_with_its_users_and_a_large_model_takes_several_gpus() -> None:
    usual, large = Capacity(USUAL), Capacity(replace(USUAL, parameters=70.6e9, layers=80, heads=64, d_model=8192))
    assert usual.gpus(100_000) == pytest.approx(10 * usual.gpus(10_000), rel=0.02)
    assert (usual.replica_gpus, large.replica_gpus) == (1, 2)
    assert large.served(3) == (large.readers, int(large.readers / USUAL.working))  # the third GPU is no replica
    assert Capacity(replace(USUAL, texts=100)).readers < usual.readers <= usual.readers_by_time
    assert usual.readers * usual.busy <= USUAL.load


def test_a_case_of_ones_own_is_printed_and_the_document_stays(capsys: pytest.CaptureFixture[str]) -> None:
    before = DOCUMENT.read_text(encoding="utf-8")
    main(["--users", "700", "--price", "2"])
    said = capsys.readouterr().out
    assert "| 700 | 35 | 1 | 1 |" in said
    assert "$2.00" in said
    assert DOCUMENT.read_text(encoding="utf-8") == before
    with pytest.raises(SystemExit):
        main(["--mfu", "0"])
    assert "--mfu must be larger than 0" in capsys.readouterr().err
