"""What all clients of a process share: connections, routes, heartbeats, the timers."""
