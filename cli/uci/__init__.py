"""The engine for programs that speak UCI."""
