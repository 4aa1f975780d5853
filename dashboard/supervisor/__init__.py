"""One command that runs every process in the right order and keeps them alive.

`plan` says what to start for the given settings (without side effects), `child` keeps
one process alive, `redis_server` finds a server for volatile state, `run` is the order
of start and stop. Nothing here is needed where processes are run by systemd or
containers: docs/deployment.md lists the same commands.
"""
