"""Oracles beside databases: by search within a time, with what is at hand asked first; and opening books."""
