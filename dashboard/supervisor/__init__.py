"""One command that runs everything: which processes, in which order, kept alive.

`plan` says what to start for the given settings (pure), `child` keeps one process
alive, `redis_server` finds a server for volatile state, `run` is the order of start
and stop. Nothing here is needed where processes are run by systemd or containers:
docs/deployment.md lists the same commands.
"""
