"""Answers without a whole database: searches within a time limit, and opening books."""
