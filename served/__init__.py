"""The model runner as a server: questions come in and answers go out as :mod:`model_runner.wire` writes them."""
