"""What charts are made of: figures and panels, scales, marks, and their SVG, PNG and strips of text."""
