"""The tests of the model card."""

from __future__ import annotations

import pytest
import torch

from scripts.check.__main__ import EMBEDDED, main
from scripts.check.loading import load
from scripts.check.quizzes import quizzes, right_answers


@pytest.mark.table
def test_one_forward_judges_like_decoding_token_by_token() -> None:
    model, tokenizer = load(EMBEDDED)
    questions = [question for quiz in quizzes() for question in quiz.questions[3:4]]
    questions += [("The capital of France is", " Par"), ("The capital of France is", " Paris."), ("9 + 9 =", " 1")]
    expected: list[bool] = []
    for prompt, answer in questions:
        ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
        for _ in range(5):
            with torch.no_grad():
                ids = torch.cat([ids, model(ids).logits[:, -1:].argmax(-1)], dim=1)
        text = str(tokenizer.decode(ids[0], skip_special_tokens=True)).removeprefix(prompt)
        longer = answer[-1:].isalnum() and text[len(answer) : len(answer) + 1].isalnum()
        expected.append(text.startswith(answer) and not longer)
    assert right_answers(model, tokenizer, tuple(questions)) == expected
    assert set(expected) == {True, False}


def test_the_questions_say_what_their_names_promise() -> None:
    by_name = {quiz.name: quiz.questions for quiz in quizzes()}
    assert ("The capital of Japan is", " Tokyo") in by_name["the same, the 40 best-known countries"]
    assert ("9 + 9 =", " 18") in by_name["sums up to 9 + 9"]
    gifts = by_name["`When A and B went to the store, A gave a book to` (B)"]
    swapped = by_name["the same, `B gave a book to` (A)"]
    for (prompt, answer), (other_prompt, other_answer) in zip(gifts, swapped, strict=True):
        _, a, _, b, *_, giver, _, _, _, _ = prompt.replace(",", "").split()
        assert (giver, answer) == (a, f" {b}")
        assert f", {b} gave" in other_prompt
        assert other_answer == f" {a}"
    for prompt, answer in by_name["next word of a list of 8 words that is repeated"]:
        # The second round, the answer included, is how the first round starts.
        text = prompt + answer
        rounds = [(text[:i], text[i + 1 :]) for i, letter in enumerate(text) if letter == " "]
        assert any(first.startswith(second) and first.count(" ") >= 7 for first, second in rounds)


@pytest.mark.long
def test_the_command_prints_the_tables_of_the_card(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scripts.check.__main__.PROMPTS", ())
    main(["--prompt", "The opposite of up is"])
    measured, completions = capsys.readouterr().out.split("| | text |")
    card = (EMBEDDED / "README.md").read_text(encoding="utf-8").splitlines()
    tables = [line for line in measured.splitlines() if line.startswith(("|", "-"))]
    assert len(tables) == 2 + 20 + 2  # the head of the table, the tests, the two kinds of attention heads
    for line in tables:
        assert line in card
    assert "| greedy | The opposite of up is down." in completions
