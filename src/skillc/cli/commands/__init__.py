"""One module for each command: its syntax and how its result is shown."""
