"""What people read and download of a finished analytics run."""
