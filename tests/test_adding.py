"""docs/adding.md does what it says: its examples, added to a copy of the tree as they are written, pass their tests.

And the tests that it names are worth naming: each fails where its example is broken.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "adding.md"
SECTION = re.compile(r"^## (?P<name>.+)\n(?P<body>(?:(?!^## ).*\n)*)", re.MULTILINE)
BLOCK = re.compile(r"^```(?P<about>.*)\n(?P<text>(?:(?!^```).*\n)*)^```", re.MULTILINE)
PLACE = re.compile(r"{.*?}|[^{]+")  # of a message: a place for a value, or words
LINKED = (".safetensors", ".xz")  # large files, which nothing here writes to
RUN = """
import json, sys
import pytest

class Heard:
    def pytest_runtest_logreport(self, report):
        passed.extend([report.nodeid] * (report.when == "call" and report.passed))
        self.pytest_collectreport(report)

    def pytest_collectreport(self, report):
        if report.failed:
            failed[report.nodeid] = str(report.longrepr)

# jaxtyping's plugin checks what is imported after it, and refuses to start twice: it goes on checking after its start
again, told = [], {}
for section, calls in json.loads(sys.argv[1]).items():
    passed, failed = [], {}
    for arguments in calls:
        pytest.main([*arguments, "-n", "0", "-p", "no:cacheprovider", *again], plugins=[Heard()])
        again = ["-o", "addopts=--import-mode=importlib"]
    told[section] = [passed, failed]
with open("told.json", "w") as file:
    json.dump(told, file)
"""

# section → the file that is broken in its example, how, and the test that must fail
BROKEN = {
    "A metric": ("attention/metrics.py", "rows.at(1)", "rows.at(-2)", "is_the_one_of_loops"),
    "A mask": ("attention/patterns.py", "q: 1 + torch.frexp", "q: 2 + torch.frexp", "the_formula_counts"),
    "An asymmetric mask": ("attention/patterns.py", "n_tokens // stride", "n_tokens // 1", "the_formula_counts"),
    "An edit": ("model_runner/layer_edit.py", "clamp(-most, most)", "clamp(-9, 9)", "changes_the_forward"),
    "A sampling transform": ("viz/components/sampling_bench/stages.js", "total < least", "total <= 0", "pythons"),
    "A family": ("tests/model_runner/families.py", 'note="norms without', 'scale=0.5, note="', "lse_is_the_one"),
    "A page": ("pages/top_keys/state.py", '= "top_keys"', '= "top"', "shows_what_it_showed"),
    "A language": ("ui/locales/de.po", '"READ THIS PICTURE"', '"{read}"', "every_message_is_translated"),
}

pytestmark = pytest.mark.table


@dataclass
class Section:
    """One row of the table, done: its blocks in order, and the tests that it names."""

    name: str
    blocks: list[tuple[str, str]]  # first line and text
    tests: list[list[str]] = field(default_factory=list[list[str]])


def sections() -> list[Section]:
    found = (
        Section(match["name"], [(block["about"], block["text"]) for block in BLOCK.finditer(match["body"])])
        for match in SECTION.finditer(DOCUMENT.read_text("utf-8"))
    )
    return [section for section in found if section.blocks]


def copy_of_the_tree(folder: Path) -> None:
    """What belongs to the repository, as it stands here."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        source, target = ROOT / name, folder / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.suffix in LINKED:
                target.symlink_to(source)
            else:
                shutil.copy(source, target)


def add(section: Section, folder: Path) -> None:
    """Do what the section's blocks say, one after the other."""
    for about, text in section.blocks:
        language, *where = shlex.split(about)
        if language == "sh":
            for line in text.splitlines():
                do(section, shlex.split(line), folder)
        else:
            put(folder, text, language, dict(part.partition("=")[::2] for part in where))


def do(section: Section, command: list[str], folder: Path) -> None:
    match command:
        case ["make", "test", arguments]:
            section.tests.append(shlex.split(arguments.removeprefix("ARGS=")))
        case ["make", "messages"]:
            installed = [f"BIN={Path(sys.executable).parent}", "-o", ".venv/installed"]
            run([*command, *installed], folder)
            translate(folder / "ui/locales/de.po")
        case ["python", *arguments]:
            run([sys.executable, *arguments], folder)
        case _:
            raise AssertionError(f"no way to do {command}")


def put(folder: Path, text: str, language: str, where: dict[str, str]) -> None:
    path = folder / where.pop("file")
    if language == "diff":
        old, new = ("".join(line[1:] + "\n" for line in text.splitlines() if line[0] == sign) for sign in "-+")
        whole = path.read_text("utf-8")
        assert whole.count(old) == 1, (path, old)
        path.write_text(whole.replace(old, new), "utf-8")
    elif not where:
        assert not path.exists(), path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    else:
        lines = path.read_text("utf-8").splitlines(keepends=True)
        [(side, words)] = where.items()
        at = [number for number, line in enumerate(lines) if words in line] if words else [len(lines)]
        assert len(at) == 1, (path, words, at)
        lines.insert(at[0] + (side == "after"), text)
        path.write_text("".join(lines), "utf-8")


def translate(path: Path) -> None:
    """Every message in the catalog's language, as far as this machine knows it: loud English."""
    with path.open("rb") as source:
        catalog = read_po(source)
    for message in catalog:
        if message.id and not message.string:
            message.string = PLACE.sub(lambda word: word[0] if word[0][0] == "{" else word[0].upper(), str(message.id))
    with path.open("wb") as target:
        write_po(target, catalog, width=0)


def run(command: list[str], folder: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def told(calls: dict[str, list[list[str]]], folder: Path) -> dict[str, tuple[list[str], dict[str, str]]]:
    """Section → the tests that passed, and what those said that failed; in one process, which imports torch once."""
    run([sys.executable, "-c", RUN, json.dumps(calls)], folder)
    return json.loads((folder / "told.json").read_text("utf-8"))


def narrowed(arguments: list[str], test: str) -> list[str]:
    """Those of these tests alone that have this name: the others have passed."""
    files, chosen = (arguments[: arguments.index("-k")], arguments[-1]) if "-k" in arguments else (arguments, "test")
    return [*files, "-k", f"({chosen}) and {test}"]


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[Section]]]:
    """A copy of the tree with every example in it."""
    folder = tmp_path_factory.mktemp("tree")
    copy_of_the_tree(folder)
    done = sections()
    for section in done:
        add(section, folder)
    yield folder, done
    shutil.rmtree(folder)


def test_every_row_that_is_done_in_full_is_broken_below() -> None:
    table = re.findall(r"^\| \[.+?\]\(#(.+?)\)", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    assert [section.name.lower().replace(" ", "-") for section in sections()] == table
    assert [section.name for section in sections()] == list(BROKEN)


@pytest.mark.long
def test_the_examples_are_added_as_written_and_their_tests_pass(added) -> None:
    found = told({section.name: section.tests for section in added[1]}, added[0])
    if wrong := [f"{test}\n{text}" for _passed, failed in found.values() for test, text in failed.items()]:
        pytest.fail("\n\n".join(wrong))
    assert [section for section, (passed, _failed) in found.items() if not passed] == []


@pytest.mark.long  # they are linted where they are added
def test_the_examples_are_in_our_style(added) -> None:
    for command in (["check"], ["format", "--check"]):
        run([sys.executable, "-m", "ruff", *command, "--no-cache", "."], added[0])


@pytest.mark.long
def test_the_tests_of_a_section_see_a_broken_example(added) -> None:
    folder, done = added
    for name, old, new, _test in BROKEN.values():
        path = folder / name
        whole = path.read_text("utf-8")
        assert whole.count(old) == 1, (name, old)
        path.write_text(whole.replace(old, new), "utf-8")
    calls = {one.name: [narrowed(arguments, BROKEN[one.name][-1]) for arguments in one.tests] for one in done}
    for section, (_passed, failed) in told(calls, folder).items():
        assert any(BROKEN[section][-1] in test for test in failed), (section, list(failed))
