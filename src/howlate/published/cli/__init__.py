"""Commands about the published figures."""
