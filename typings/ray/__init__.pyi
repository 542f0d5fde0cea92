# Ray is optional, and has few types. pyright would take served/ray for it.
from typing import Any

def __getattr__(name: str) -> Any: ...
