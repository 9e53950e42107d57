"""Programs drawn from the grammar and the types, run on every target and held to the reference interpreter."""
