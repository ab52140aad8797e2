"""The commands of `howlate lab` that explain."""
