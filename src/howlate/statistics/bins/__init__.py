"""What charts draw of a column, made from its samples or their counts."""
