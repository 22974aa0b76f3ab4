"""What an agent may run: command templates, values, runner, sandbox, trust and approval.

Knows nothing of prompts or models; an agent's engine meets it through a protocol.
"""
