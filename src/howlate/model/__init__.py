"""Frozen types of study, plan, run and summary; the only place that decodes and validates."""
