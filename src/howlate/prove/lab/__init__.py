"""The commands of `howlate lab` that prove."""
