"""Makes the shared fixtures known to the tests of this folder."""

from tests.adbd.fixtures import adb_server, attached

__all__ = ["adb_server", "attached"]
