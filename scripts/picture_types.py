"""Write TypeScript types for the data of components: ``python -m scripts.picture_types [--check]``.

For each module in viz/components with a picture (see viz/components/picture.py), it writes ``<module>_picture.d.ts``
beside it. With ``--check`` it writes nothing, lists the files that are out of date, and exits with 1 if there are any.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import viz.components
from viz.components.picture import ColoredPicture, Parts, Picture, TypeScript, dtype_of, is_optional, parts_of

FOLDER = Path(viz.components.__file__ or "").parent
ARRAYS = {"float32": "Floats", "uint8": "Bytes", "int32": "Ints"}
SHARED = {"Texts", "Palette", *ARRAYS.values()}  # from shared/types.d.ts
BUILT_IN = {"Record"}
WIDTH = 116


def picture_modules() -> list[Path]:
    """The modules that declare a picture."""
    return sorted(path for path in FOLDER.glob("*/*.py") if "Picture)" in path.read_text(encoding="utf-8"))


def types_file(module: Path) -> Path:
    """The path of its types."""
    return module.with_name(f"{module.stem}_picture.d.ts")


def types_of(module: Path) -> str:
    """The contents of this file. Raises ValueError if the module has no picture, or several."""
    name = ".".join(("viz.components", *module.relative_to(FOLDER).with_suffix("").parts))
    loaded = importlib.import_module(name)
    own = [one for one in vars(loaded).values() if isinstance(one, type) and issubclass(one, Picture)]
    pictures = [one for one in own if one.__module__ == name]
    if len(pictures) != 1:
        raise ValueError(f"{name} declares {len(pictures)} pictures: one is expected")
    first_line = f"// What {module.name} packs; python -m scripts.picture_types wrote this file."
    return f"{first_line}\n\n{interfaces(pictures[0])}"


def interfaces(picture: type[Picture]) -> str:
    """``Meta`` and ``Arrays`` of a picture, and the types they use, in TypeScript.

    Raises KeyError for an unknown type.
    """
    return _Types(picture).text()


class _Types:
    """The interfaces of one picture, and what they import."""

    def __init__(self, picture: type[Picture]) -> None:
        self.picture = picture
        self.imported: dict[str, set[str]] = {"../shared/types": set(), "./types": set()}
        self.interfaces: dict[str, str] = {}

    def text(self) -> str:
        parts = parts_of(self.picture)
        meta = {name: hint for name, hint in parts.items() if dtype_of(hint) is None}
        arrays = {name: hint for name, hint in parts.items() if dtype_of(hint) is not None}
        blocks = [self._interface("Meta", self.picture, meta)]
        if arrays:
            blocks.append(self._interface("Arrays", self.picture, arrays))
        imports = [_import(names, file) for file, names in self.imported.items() if names]
        return "\n\n".join([*(["\n".join(imports)] if imports else []), *blocks, *self.interfaces.values()]) + "\n"

    def _interface(self, name: str, cls: type, parts: Mapping[str, Any], about: str = "") -> str:
        said = dict(_documented(cls))
        lines: list[str] = []
        for part, hint in parts.items():
            if words := said.get(part, ""):
                lines += _comment(words, "  ")
            missing = is_optional(hint) or (dtype_of(hint) is not None and NoneType in get_args(hint))
            lines.append(f"  {part}{'?' if missing else ''}: {self._type(hint, missing=missing)}")
        return "\n".join([*(_comment(about, "") if about else []), f"export interface {name} {{", *lines, "}"])

    def _type(self, hint: Any, *, missing: bool = False) -> str:
        if get_origin(hint) is Annotated:
            return self._annotated(hint, missing=missing)
        origin, within = get_origin(hint), get_args(hint)
        if origin in (Union, UnionType):
            kinds = [self._type(one) for one in within if not (missing and one is NoneType)]
            return " | ".join(dict.fromkeys(kinds))
        if origin is Literal:
            return " | ".join(f'"{one}"' if isinstance(one, str) else str(one).lower() for one in within)
        if origin is tuple and within[-1] is not Ellipsis:
            return f"[{', '.join(self._type(one) for one in within)}]"
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return f"Record<string, {self._type(within[1])}>"
        if isinstance(origin, type) and issubclass(origin, Sequence):
            inner = self._type(within[0])
            return f"({inner})[]" if _is_union(within[0]) else f"{inner}[]"
        if isinstance(hint, type) and is_dataclass(hint):
            return self._named(hint)
        if hint is Any:
            return "any"
        return {NoneType: "null", str: "string", bool: "boolean", int: "number", float: "number"}[hint]

    def _annotated(self, hint: Any, *, missing: bool) -> str:
        inner, *words = get_args(hint)
        if (dtype := dtype_of(hint)) is not None:
            return self._shared(ARRAYS[dtype])
        for word in words:
            if isinstance(word, TypeScript):
                return self._shared(word.name)
            if isinstance(word, Parts):
                named = zip(word.names, get_args(inner), strict=True)
                return f"[{', '.join(f'{name}: {self._type(one)}' for name, one in named)}]"
        return self._type(inner, missing=missing)

    def _shared(self, name: str) -> str:
        for one in set(re.findall(r"\b[A-Z]\w+", name)) - BUILT_IN:
            self.imported["../shared/types" if one in SHARED else "./types"].add(one)
        return name

    def _named(self, cls: type) -> str:
        if cls.__name__ not in self.interfaces:
            self.interfaces[cls.__name__] = ""  # a type that contains itself finds its name here
            parts = {name: hint for name, hint in parts_of(cls).items() if dtype_of(hint) is None}
            self.interfaces[cls.__name__] = self._interface(cls.__name__, cls, parts, inspect.getdoc(cls) or "")
        return cls.__name__


def _import(names: set[str], file: str) -> str:
    return f'import type {{ {", ".join(sorted(names))} }} from "{file}"'


def _is_union(hint: Any) -> bool:
    """Whether it is a union."""
    if get_origin(hint) is Annotated:
        words = get_args(hint)[1:]
        return not any(isinstance(word, (Parts, TypeScript)) for word in words) and _is_union(get_args(hint)[0])
    return get_origin(hint) in (Union, UnionType) or (get_origin(hint) is Literal and len(get_args(hint)) > 1)


def _documented(cls: type) -> Iterator[tuple[str, str]]:
    """Names of fields and methods, each with the sentences under it in the class, base classes first."""
    for base in reversed([one for one in cls.__mro__ if one.__module__ != "builtins"]):
        if base in (Picture, ColoredPicture):
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(tree, ast.ClassDef)
        for one, after in zip(tree.body, [*tree.body[1:], ast.Pass()], strict=True):
            match one, after:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                    yield name, inspect.cleandoc(words)
                case ast.FunctionDef(name=name), _:
                    yield name, inspect.cleandoc(ast.get_docstring(one) or "")
                case _:
                    pass


def _comment(words: str, margin: str) -> list[str]:
    plain = re.sub(r"``?", "`", " ".join(words.split()))
    if len(margin) + len(plain) + 7 <= WIDTH:
        return [f"{margin}/** {plain} */"]
    wrapped = textwrap.wrap(plain, WIDTH - len(margin) - 3, break_long_words=False, break_on_hyphens=False)
    return [f"{margin}/**", *(f"{margin} * {line}" for line in wrapped), f"{margin} */"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(prog="python -m scripts.picture_types", description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing; end with 1 where a file is not as it would be"
    )
    check = parser.parse_args(arguments).check
    stale = [one for one in picture_modules() if not _is_written(one)]
    for module in stale:
        print(types_file(module).relative_to(FOLDER))
        if not check:
            types_file(module).write_text(types_of(module), encoding="utf-8")
    return 1 if check and stale else 0


def _is_written(module: Path) -> bool:
    file = types_file(module)
    return file.exists() and file.read_text(encoding="utf-8") == types_of(module)


if __name__ == "__main__":
    raise SystemExit(main())
