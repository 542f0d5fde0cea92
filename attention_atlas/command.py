"""The command ``attention-atlas``: open the app, serve it to others, serve models, or measure many texts."""

from __future__ import annotations

import argparse
import importlib.util
import os
import runpy
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from attention_atlas import __version__

INSTALLED = Path(__file__).with_name("app.py").is_file()  # otherwise this is the repository
HOME = Path(__file__).parent if INSTALLED else Path(__file__).parents[1]
NO_SERVER = 'Serving models needs packages that are not installed. Run: pip install "attention-atlas[served]"'
MISSING = 'The app needs packages that are not installed. Run: pip install "attention-atlas[app]"'
OF_HOST = {"check": "hosting.check", "drain": "hosting.drain_client"}  # these parse their own arguments
PATIENCE = 60  # seconds until the browser is opened, whether the server answers or not


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    asked, rest = _parser().parse_known_args(given)
    if rest and asked.what not in OF_HOST:
        _parser().error(f"unrecognized arguments: {' '.join(rest)}")
    if asked.what == "runner":
        return _serve_models(asked.settings, asked.new_key, asked.ray)
    if asked.what == "map":
        return _map_texts(asked)
    if importlib.util.find_spec("streamlit") is None:
        sys.stderr.write(f"{MISSING}\n")
        return 1
    if asked.what == "serve":
        return _serve(asked.settings)
    if asked.what in OF_HOST:
        return _run(OF_HOST[asked.what], given[given.index(asked.what) + 1 :])
    return _open(asked.model, asked.port, asked.browser)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="attention-atlas", description="See how a transformer attends: open the app in your browser."
    )
    parser.add_argument("--version", action="version", version=f"Attention Atlas {__version__}")
    parser.add_argument("--model", default="", help="a hub id (owner/name) or a folder; without it the embedded model")
    parser.add_argument("--port", type=_port, default=0, help="the port to listen on; without it a free one from 8501")
    parser.add_argument("--no-browser", dest="browser", action="store_false", help="do not open a browser")
    kinds = parser.add_subparsers(dest="what", metavar="")
    serve = kinds.add_parser("serve", help="serve the app to others, with a file of settings (see docs/hosting.md)")
    serve.add_argument("settings", nargs="?", default="", help="the file of settings; without it every default")
    kinds.add_parser(
        "check", add_help=False, help="try everything of a file of settings before the first visitor comes"
    )
    kinds.add_parser("drain", add_help=False, help="let nobody new in, and end the server when its lessons are over")
    runner = kinds.add_parser("runner", help="serve models to apps and notebooks (see docs/scale.md)")
    what = runner.add_mutually_exclusive_group(required=True)
    what.add_argument("settings", nargs="?", default="", help="the file of settings")
    what.add_argument("--new-key", default="", metavar="NAME", help="write a new key, and its lines of the settings")
    runner.add_argument("--ray", action="store_true", help="on a Ray cluster: replicas, several GPUs")
    mapped = kinds.add_parser("map", help="write the metrics of every head on many texts (see docs/notebook.md)")
    mapped.add_argument("folder", help="its text files are read, at any depth")
    mapped.add_argument(
        "--model",
        dest="of",
        default="default",
        metavar="MODEL",
        help="a hub id or a folder; without it the embedded model",
    )
    mapped.add_argument("--out", default="metrics.parquet", help="the folder of Parquet files, metrics.parquet")
    mapped.add_argument("--pattern", default="*.txt", help="of the files' names, *.txt")
    mapped.add_argument("--batch", type=_count, default=16, help="texts of one forward pass, 16")
    mapped.add_argument(
        "--ray", type=_count, default=0, metavar="WORKERS", help="on a Ray cluster, in so many processes"
    )
    mapped.add_argument("--gpus", type=float, default=0.0, help="of each of them: 0, a share of one, or several")
    return parser


def _count(text: str) -> int:
    count = int(text) if text.isdecimal() else 0
    if count < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1")
    return count


def _port(text: str) -> int:
    port = int(text) if text.isdecimal() else 0
    if not 1 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is no port: choose a number from 1 to 65535")
    return port


def _open(model: str, port: int, browser: bool) -> int:
    port = port or _free_port()
    folder = Path(model).expanduser()
    query = f"?model={quote(str(folder.resolve()) if folder.is_dir() else model)}" if model else ""
    url = f"http://127.0.0.1:{port}/{query}"
    options = [f"--server.port={port}", "--server.address=127.0.0.1", "--server.headless=true"]
    sys.stdout.write(f"Attention Atlas {__version__} is at {url}\nStop it with Ctrl+C.\n")
    sys.stdout.flush()
    if browser:
        threading.Thread(target=_open_browser, args=(port, url), daemon=True).start()
    from streamlit.web.cli import main as streamlit  # imported late: other commands do not need it

    streamlit(["run", str(HOME / "app.py"), *options], standalone_mode=False)
    return 0


def _serve_models(settings: str, new_key: str, ray: bool) -> int:
    """See served/serve.py and served/ray/start.py."""
    if any(importlib.util.find_spec(name) is None for name in ("starlette", "uvicorn")):
        sys.stderr.write(f"{NO_SERVER}\n")
        return 1
    if not INSTALLED:
        sys.path.insert(0, str(HOME))
    if ray and not new_key:
        from served.ray import start

        return start.main(Path(settings))
    if new_key:
        from served import serve  # imported late: it imports torch

        sys.stdout.write(serve.new_key(new_key))
        return 0
    from served.__main__ import run

    return run(Path(settings))


def _map_texts(asked: argparse.Namespace) -> int:
    """See analysis/mapped_texts.py; finished rows are kept, so a repeated command continues an interrupted one."""
    # imported late: other commands need no torch
    from attention_atlas import RayWorkers, RunnerError, load_runner, map_texts

    shown = sys.stderr.isatty()

    def say(count: int, name: str) -> None:
        sys.stderr.write(f"\r{count:,} {name[:60]:<60}" if shown else "")

    try:
        reader = RayWorkers(asked.of, count=asked.ray, gpus=asked.gpus) if asked.ray else load_runner(asked.of)
        found = map_texts(reader, asked.folder, asked.out, pattern=asked.pattern, batch_size=asked.batch, say=say)
    except (RunnerError, ImportError, ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write(f"\nStopped. What was read is in {asked.out}; the same command goes on from there.\n")
        return 130
    sys.stderr.write("\n" if shown and found.read else "")
    for name, problem in found.problems:
        sys.stderr.write(f"{name}: {problem}\n")
    there = f", there already: {found.there:,}" if found.there else ""
    sys.stdout.write(f"Texts read: {found.read:,}{there}, not readable: {len(found.problems):,}. See {asked.out}\n")
    return 0 if found.read or found.there else 1


def _serve(settings: str) -> int:
    """Replace this process by the server, see hosting/serve.py."""
    given = [str(Path(settings).resolve())] if settings else []
    if not INSTALLED:
        os.chdir(HOME)
    return _run("hosting.serve", given)


def _run(module: str, arguments: Sequence[str]) -> int:
    """Run a module as ``python -m`` does; ends this process with its status."""
    sys.argv[1:] = arguments
    if not INSTALLED:
        sys.path.insert(0, str(HOME))
    runpy.run_module(f"{__package__}.{module}" if INSTALLED else module, run_name="__main__")
    return 0


def _free_port() -> int:
    for port in range(8501, 8600):
        with socket.socket() as one, suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _open_browser(port: int, url: str) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            break
        time.sleep(0.2)
    webbrowser.open(url)
