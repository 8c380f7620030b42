"""Proves values by search where no table can reach, in bounded memory and time."""
