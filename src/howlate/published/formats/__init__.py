"""Files of the published studies' programs."""
