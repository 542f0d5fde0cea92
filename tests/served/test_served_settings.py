"""The settings file of a model server: every default is valid, and a wrong value gives one error message."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from attention_atlas.command import main
from hosting.settings import WrongSetting
from served import serve
from served.settings import Access, ServedSettings, read
from tests.test_repository import ROOT

DIGEST = hashlib.sha256(b"a key").hexdigest()
PARTS = "[server], [models], [limits], [ray], [[keys]] and [[applications]]"
KEY = f'[[keys]]\nname = "app"\nsha256 = "{DIGEST}"\n'


def settings(folder: Path, text: str) -> ServedSettings:
    path = folder / "served.toml"
    path.write_text(text, encoding="utf-8")
    return read(path)


def test_the_example_has_every_default(tmp_path):
    example = (ROOT / "served" / "example.toml").read_text(encoding="utf-8")
    assert settings(tmp_path, example + KEY) == ServedSettings(keys=(Access("app", DIGEST),))


def test_a_new_key_is_written_with_the_lines_that_allow_it(tmp_path, capsys):
    assert main(["runner", "--new-key", "lab"]) == 0
    key, _, lines = capsys.readouterr().out.partition("\n")
    (access,) = settings(tmp_path, lines).keys
    assert access.name == "lab"
    assert access.sha256 == hashlib.sha256(key.encode()).hexdigest()
    assert len(key) >= 43  # 256 bits


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "There is no [[keys]]"),
        ("keys = 3", "has a part “keys”"),
        ("keys = [3]", "has a part “keys”"),
        (
            "[limit]\n" + KEY,
            "has a part “limit”; its parts are [server], [models], [limits], [ray], [[keys]] and [[applications]].",
        ),
        ("[limits]\nsecond = 3\n" + KEY, "There is no setting “second” in [limits]; did you mean “seconds”?"),
        ("[limits]\nseconds = 0\n" + KEY, "limits.seconds is 0; it must be a whole number from 1 to 86,400."),
        ('[limits]\nbody = "much"\n' + KEY, "limits.body is “much”; it must be a size"),
        ('[models]\nlisted = ["/srv/model"]\n' + KEY, "models.listed has “/srv/model”, a folder"),
        ('[server]\ncertificate = "a.pem"\n' + KEY, "go together"),
        ('[[keys]]\nname = "app"\nsha256 = "a key"', "The sha256 of the key app must be 64 digits"),
        (f'[[keys]]\nname = "an app"\nsha256 = "{DIGEST}"', "it must be a name without spaces"),
        (KEY + KEY, "Two keys have the same name."),
        (KEY + 'models = ["gpt2"]', "The key app names gpt2, which is not in models.listed."),
    ],
)
def test_a_wrong_setting_is_one_sentence(tmp_path, text, words):
    with pytest.raises(WrongSetting) as error:
        settings(tmp_path, text)
    assert words in str(error.value)


def test_the_command_says_what_is_wrong_and_ends(tmp_path, capsys):
    assert main(["runner", str(tmp_path / "none.toml")]) == 1
    assert "cannot be read" in capsys.readouterr().err
    assert serve.KEEP_ALIVE > 60  # longer than a client keeps a connection, or its questions would meet closed ones
