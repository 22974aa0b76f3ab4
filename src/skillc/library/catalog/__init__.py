"""The library's index: what folders of skills hold, kept between commands, and finding skills in it.

One SQLite file for all folders. It can always be made again from them; who can't use it does without.
"""

from __future__ import annotations
