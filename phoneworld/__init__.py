"""PhoneWorld: recordings of phone apps in, resettable and checkable mock apps out. See ARCHITECTURE.md for the rooms."""

__version__ = "0.1.0"
