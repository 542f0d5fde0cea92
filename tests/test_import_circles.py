"""No module imports another that imports it, directly or by way of others, nor later, inside a function."""

from __future__ import annotations

from tests.test_architecture import imports, parsed, read, sources


def import_circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The modules that import each other, directly or by way of others."""
    reached: dict[str, set[str]] = {}
    for module in graph:
        seen: set[str] = set()
        ahead = list(graph[module])
        while ahead:
            here = ahead.pop()
            if here not in seen:
                seen.add(here)
                ahead += graph.get(here, ())
        reached[module] = seen
    circles = {frozenset(other for other in reached[m] if m in reached[other]) for m in graph if m in reached[m]}
    return sorted(sorted(circle) for circle in circles)


def import_graph(texts: dict[str, str]) -> dict[str, set[str]]:
    """Module → our modules it imports; a package stands for its ``__init__``."""
    names = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in texts}
    graph: dict[str, set[str]] = {}
    for module, path in names.items():
        found = imports(path, parsed(texts[path]))
        named = [f"{source}.{name}" if f"{source}.{name}" in names else source for _, source, name in found]
        graph[module] = {one for one in named if one in names}
    return graph


def test_no_modules_import_each_other():
    assert import_circles(import_graph({path: read(path) for path in sources(".py")})) == []


def test_the_referee_sees_a_circle():
    texts = {
        "viz/a.py": "from viz import b",
        "viz/b.py": "if TYPE_CHECKING:\n    from viz.c import C",
        "viz/c.py": "class A:\n    from .a import x",
        "viz/d.py": "from viz.a import x\ndef f():\n    from viz.e import x",
        "viz/e.py": "class A:\n    async def f(self):\n        import viz.d",
        "viz/f.py": "from viz.e import x",
        "viz/__init__.py": "",
    }
    assert import_circles(import_graph(texts)) == [["viz.a", "viz.b", "viz.c"], ["viz.d", "viz.e"]]
