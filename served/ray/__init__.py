"""The model server on Ray Serve: supervised replicas, autoscaling, and shared GPUs.

Requests are answered by :func:`served.app.app`, as on one machine. Ray sends pickles between its processes, so only its
HTTP port may be reachable from outside.
"""
