"""Start fast: every trick that keeps the commands of agents' reading path short."""
