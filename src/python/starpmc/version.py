"""The version of this package, which is that of the program it starts."""

__version__ = "0.1.0"
