"""A KV cache for the model with room for every token from the start.

transformers' DynamicCache concatenates the old and the new rows into a new tensor at every step. Here a forward writes
its rows behind those of the last one, and the model is given a view of the same shape and values. These rows are also
the keys and values that a series keeps. The sizes and offsets that masks are made from are transformers'.
"""

from __future__ import annotations

from typing import Any

from jaxtyping import Float
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from model_runner.local.recording.arena import Arena


def empty_cache(model: Any) -> DynamicCache:
    """The cache that the model's own generation begins with."""
    return DynamicCache(config=model.config.get_text_config(decoder=True))


def preallocated_cache(model: Any, arena: Arena, capacity: int) -> DynamicCache:
    """The same, with room for ``capacity`` tokens; layers that cache something other than keys and values are left as
    they are.
    """
    cache = empty_cache(model)
    for place, layer in enumerate(cache.layers):
        if type(layer) is DynamicLayer:
            cache.layers[place] = PreallocatedLayer(arena, capacity)
        elif type(layer) is DynamicSlidingWindowLayer:
            cache.layers[place] = PreallocatedLayer(arena, capacity, layer.sliding_window)
    return cache


class PreallocatedLayer(DynamicLayer):
    """The KV cache of one layer; with a ``window``, the model is given the last ``window`` − 1 rows and the new ones.

    A row that has left the window is kept, since it is part of the text.
    """

    is_croppable = False

    def __init__(self, arena: Arena, capacity: int, window: int | None = None) -> None:
        super().__init__()
        self.is_sliding = window is not None
        self.window = window
        self.length = 0
        self.rooms: tuple[Tensor, Tensor] | None = None  # (1, kv_heads, capacity, d)
        self._arena, self._capacity = arena, capacity

    def update(
        self,
        key_states: Float[Tensor, "1 kv_heads new d_head"],
        value_states: Float[Tensor, "1 kv_heads new d_value"],
        *_: Any,
        **__: Any,
    ) -> tuple[Tensor, Tensor]:
        """Write the new rows; return those that the new tokens may attend to."""
        if self.rooms is None:
            self.rooms = self._room(key_states), self._room(value_states)
            self.is_initialized = True
        first, start, self.length = self._first(), self.length, self.length + key_states.shape[-2]
        keys, values = self.rooms
        keys[:, :, start : self.length].copy_(key_states)
        values[:, :, start : self.length].copy_(value_states)
        self.keys, self.values = keys[:, :, first : self.length], values[:, :, first : self.length]
        return self.keys, self.values

    def get_seq_length(self) -> int:
        return self.length

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.length + query_length - self._first(), self._first()

    def _first(self) -> int:
        """The first row that the next token may attend to."""
        return 0 if self.window is None else max(0, self.length - self.window + 1)

    def _room(self, states: Tensor) -> Tensor:
        *outer, _, d = states.shape
        return self._arena.room((*outer, self._capacity, d), states.dtype, states.device)


def rows_behind(cache: DynamicCache, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor] | None:
    """The full buffers ``[kv_heads, capacity, d]`` of which these keys and values are the first rows, if they are."""
    for layer in cache.layers:
        rooms: tuple[Tensor, Tensor] | None = getattr(layer, "rooms", None)
        if rooms is not None and all(
            room.data_ptr() == x.data_ptr() and room[0].stride() == x.stride()
            for room, x in zip(rooms, (k, v), strict=True)
        ):
            return rooms[0][0], rooms[1][0]
    return None
