"""The commands, one file each, imported only when a command is called."""
