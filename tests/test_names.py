"""Class names are unique: whoever searches for a class finds one."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.test_architecture import OUTSIDE_THE_APP, parsed, read, room_of, sources

# Words that a reader of this field knows, and the one file that says what they are here.
MEANINGS = {
    "ActivationRecorder": "model_runner/local/recording/recorder.py",
    "Band": "attention/masks.py",
    "Capture": "model_runner/capture.py",
    "CaptureRequest": "model_runner/request.py",
    "ExportBundle": "ui/shared/export_bundle.py",
    "GenerationTree": "jobs/generation_tree.py",
    "HelpCard": "ui/shared/help_card.py",
    "IncrementalTask": "jobs/incremental_task.py",
    "Job": "model_runner/job.py",
    "LayerRecord": "model_runner/record.py",
    "ModelOptions": "ui/state/selection.py",
    "Question": "model_runner/question.py",
    "Reading": "analysis/head_map.py",
    "Runner": "model_runner/runner.py",
    "Sampling": "model_runner/transforms.py",
    "Selection": "ui/state/selection.py",
    "Settings": "hosting/settings.py",
    "Stage": "model_runner/sampling.py",
    "Step": "model_runner/step.py",
    "StepConsumer": "model_runner/local/recording/step_consumer.py",
    "UserFacingError": "model_runner/errors.py",
}


def classes(texts: dict[str, str]) -> dict[str, list[str]]:
    """Public class → the files that define one of this name."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path, text in texts.items():
        for node in ast.walk(parsed(text)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path)
    return dict(found)


def product() -> dict[str, str]:
    return {path: read(path) for path in sources(".py") if room_of(path) not in OUTSIDE_THE_APP}


def test_no_two_classes_have_the_same_name():
    assert {name: paths for name, paths in classes(product()).items() if len(paths) > 1} == {}


def test_words_of_the_field_are_where_a_reader_looks_for_them():
    found = classes(product())
    assert {name: found.get(name) for name in MEANINGS} == {name: [path] for name, path in MEANINGS.items()}


def test_the_referee_sees_a_second_class_of_a_name():
    texts = {
        "jobs/a.py": "class Step:\n    pass",
        "ui/b.py": "def f():\n    class Step:\n        pass\n\nclass _Step: ...",
    }
    assert classes(texts) == {"Step": ["jobs/a.py", "ui/b.py"]}
