"""The library's index: what folders of skills hold, kept between commands.

One SQLite file for all folders. It can always be made again from them; who can't use it does without.
`folder` is where to start: one folder, as it is now and as it is searched.
"""

from __future__ import annotations
