"""The Debian archive: lists, packages, signatures, downloads."""
