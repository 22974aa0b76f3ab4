"""The skill index: every skill of every folder, for listing and for finding.

It is one SQLite file that can always be rebuilt from the folders.
"""
