"""Inside the context this thread uses no helper threads; every other thread does."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from model_runner.one_thread import _openmp, one_thread

pytestmark = pytest.mark.skipif(_openmp() is None, reason="torch has another OpenMP here")


def test_it_is_of_this_thread_and_of_this_while_alone():
    code = (
        "from concurrent.futures import ThreadPoolExecutor as Pool; import torch; torch.set_num_threads(3)\n"
        "from model_runner.one_thread import one_thread\n"
        "with Pool(1) as old:\n"
        "    asked = [old.submit(torch.get_num_threads).result()]\n"
        "    with one_thread():\n"
        "        asked += [torch.get_num_threads(), old.submit(torch.get_num_threads).result()]\n"
        "        with Pool(1) as new: asked.append(new.submit(torch.get_num_threads).result())\n"
        "    print(asked + [torch.get_num_threads()])"
    )  # a process of its own: here torch has one thread
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[3, 1, 3, 3, 3]"


def test_a_thread_that_begins_with_it_has_its_usual_number_after_it():
    def inside() -> list[int]:
        with one_thread():
            within = torch.get_num_threads()
        return [within, torch.get_num_threads()]

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(inside).result() == [1, torch.get_num_threads()]


def test_what_fails_within_leaves_the_usual_number():
    usual = torch.get_num_threads()
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert torch.get_num_threads() == usual


def test_where_it_is_not_wanted_nothing_changes():
    usual = torch.get_num_threads()
    with one_thread(wanted=False):
        assert torch.get_num_threads() == usual
