"""Which skills fit a task: ranking over all that the catalog knows, and the reasons.

`library` is where to start: the folders known through one index, and `find` over them.
"""

from __future__ import annotations
