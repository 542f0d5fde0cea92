"""The model runner as a server: questions and answers are serialized by :mod:`model_runner.wire`."""
