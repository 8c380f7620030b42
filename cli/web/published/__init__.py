"""Publishes solved games as a static site: the page of `serve`, whose answers come from files."""
