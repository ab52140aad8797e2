"""The charts of causes."""
