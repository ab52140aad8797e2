"""What people read: tables in the terminal, and one HTML file (docs/report.md)."""
