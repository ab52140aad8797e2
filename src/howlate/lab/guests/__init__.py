"""Guests: QEMU as a child process, saved and loaded machines, what goes in and comes out."""
