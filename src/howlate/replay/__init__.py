"""What a guest executed, and the parts of a latency that follow from it. Pure."""
