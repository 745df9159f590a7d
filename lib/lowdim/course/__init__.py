"""Coursework: assignments from one source, and grading that trusts no submission."""
