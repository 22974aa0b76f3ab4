"""What a skill asks for: hosts, commands, secrets, files outside of it, and what it hides.

Reads text and runs nothing. An audit is a report, not a verdict: approval and the sandbox are the boundary.
"""
