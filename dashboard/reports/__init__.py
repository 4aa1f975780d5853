"""Reports: the pages and downloads of a finished analytics run."""
