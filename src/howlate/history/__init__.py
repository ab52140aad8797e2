"""Many runs over time, and asked in SQL (docs/history.md, docs/query.md)."""
