"""The shared part of a process's clients: connections, routes, heartbeats, timers."""
