"""The published figures: their files, what the audit says of them, and how they stand beside a run's cells."""
