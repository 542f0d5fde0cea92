"""The server of models on Ray Serve: replicas that are watched and replaced, more of them when many ask, GPUs shared.

What answers is :func:`served.app.app`, as on one machine. Ray carries pickles between its processes: nothing but its
HTTP port may be reached by anybody else.
"""
