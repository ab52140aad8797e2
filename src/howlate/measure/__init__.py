"""From a request to a run: asked, planned, executed cell by cell, continued."""
