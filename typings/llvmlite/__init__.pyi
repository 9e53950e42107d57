"""The little of llvmlite 0.50 that is used here."""

__version__: str
