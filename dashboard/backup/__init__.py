"""Backups: the database, the settings and the manifests of the lake in one file."""
