"""RocketScope's web application: one Django app, rooms by what one would look for."""
