"""Predicts positions, time, memory and disk of a solve."""
