"""The words for results: statements, quantities, languages. The only room that knows a language."""
