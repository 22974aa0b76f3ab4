"""Set agents up for skc: the program on their PATH, the MCP server, prompt hook, permission, listings.

Each is an entry in a file of an agent's, and every other byte of the file stays. It runs no agent.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.setup.clients import change_client, client_names, find_registrations
    from skillc.setup.hooks import find_hooks
    from skillc.setup.program import find_script, read_login_path
    from skillc.setup.setup import Setups, set_up
else:
    __getattr__, __all__ = front_door(__name__)
