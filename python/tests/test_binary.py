"""Search for the thor command, with stand-ins for thor."""

import os
import sys
import unittest
from pathlib import Path
from unittest import mock

from support import SMALL, WithFiles

import thor
from thor import binary


class FindTest(WithFiles):
    def setUp(self):
        super().setUp()
        # Ignore this machine's environment and installations.
        self.there = Path(self.folder, "prefix")
        package = self.there / "lib" / "python3" / "site-packages" / "thor"
        for change in (
            mock.patch.dict(os.environ, {"PATH": f"{self.folder}/path"}),
            mock.patch.object(sys, "prefix", f"{self.folder}/venv"),
            mock.patch.object(binary, "_PACKAGE", package),
        ):
            change.start()
            self.addCleanup(change.stop)
        os.environ.pop("THOR_BINARY", None)

    def program(self, *where, says="thor 0.1.0 (abc)", mode=0o755):
        path = Path(self.folder, *where)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho '{says}'\n")
        path.chmod(mode)
        return str(path)

    def test_order(self):
        """Each place takes priority over the later ones."""
        places = [
            self.program("prefix", "lib", "python3", "build", "release", "thor"),
            self.program("path", "thor"),
            self.program("prefix", "bin", "thor"),
            self.program("venv", "bin", "thor"),
        ]
        for path in places:
            for later in places:
                Path(later).chmod(0o755 if places.index(later) <= places.index(path) else 0o644)
            self.assertEqual(thor.find_binary(), path)
        os.environ["THOR_BINARY"] = self.program("environment")
        self.assertEqual(thor.find_binary(), os.environ["THOR_BINARY"])
        given = self.program("given")
        self.assertEqual(thor.find_binary(given), given)

    def test_none(self):
        with self.assertRaisesRegex(thor.RunError, "not found.*Build it.*THOR_BINARY") as caught:
            thor.run(SMALL, self.path)
        self.assertIsNone(caught.exception.code)

    def test_another_program_of_that_name(self):
        self.program("venv", "bin", "thor", says="Commands: thor help")
        self.program("prefix", "bin", "thor", mode=0o644)
        with self.assertRaisesRegex(thor.RunError, "not found"):
            thor.find_binary()

    def test_given_but_missing(self):
        self.program("path", "thor")
        os.environ["THOR_BINARY"] = f"{self.folder}/nowhere"
        with self.assertRaisesRegex(thor.RunError, "THOR_BINARY = .*nowhere"):
            thor.find_binary()
        with self.assertRaisesRegex(thor.RunError, "binary = .*no such program"):
            thor.find_binary(self.folder)

    def test_not_a_program_at_all(self):
        os.environ["THOR_BINARY"] = self.program("broken")
        Path(os.environ["THOR_BINARY"]).write_bytes(b"\x7fELF")
        with self.assertRaisesRegex(thor.RunError, "cannot start"):
            thor.run(SMALL, self.path)


if __name__ == "__main__":
    unittest.main()
