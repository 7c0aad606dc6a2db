"""A private folder in which finished cells are kept, so that a broken run goes on where it stopped.

The folder is the owner's alone (0700, files 0600). It has a salt of its own: the name of a file is a keyed hash of what was
computed, which tells nothing without the salt, and each file is sealed with it. A file that is damaged, of another folder
or of somebody else is not read: its cell is computed again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from pathlib import Path

from ._errors import InputError, NotWritten

_SALT = "salt"
_SALT_BYTES = 32
_ENDING = ".cell"
_UNFINISHED = ".unfinished-"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_MOST_BYTES = 1 << 30
"""No cell is longer."""


class Folder:
    """The folder at this path; made where there is none. Refused where others can read it, or where it holds other things."""

    def __init__(self, path):
        self.path = Path(path)
        try:
            os.mkdir(self.path, 0o700)
        except FileExistsError:
            pass
        except OSError as error:
            raise InputError(f"keep={str(self.path)!r}: the folder cannot be made: {error.strerror}") from None
        self._require_private()
        self._salt = self._find_salt()

    def _require_private(self):
        found = os.stat(self.path)
        if not stat.S_ISDIR(found.st_mode):
            raise InputError(f"keep={str(self.path)!r} is no folder")
        if found.st_uid != os.geteuid() or found.st_mode & _OTHERS:
            raise InputError(
                f"keep={str(self.path)!r}: others can read this folder (mode {stat.S_IMODE(found.st_mode):o}), and cells may "
                "depend on private data: name a new folder, which is made for you alone, or take the rights of others away"
            )

    def _find_salt(self):
        salt = self._read(_SALT)
        if salt is None:
            others = [name for name in os.listdir(self.path) if not name.startswith(_UNFINISHED) and name != _SALT]
            if others:
                raise InputError(
                    f"keep={str(self.path)!r} holds other files, such as {sorted(others)[0]!r}: name a new or an empty folder"
                )
            made = self._unfinished(secrets.token_bytes(_SALT_BYTES))
            try:
                # Of two that make the folder at once, one makes the salt.
                os.link(made, self.path / _SALT)
            except FileExistsError:
                pass
            finally:
                os.unlink(made)
            salt = self._read(_SALT)
        if salt is None or len(salt) != _SALT_BYTES:
            raise InputError(
                f"keep={str(self.path)!r}: the salt of this folder is damaged, so that its cells are lost: name another folder"
            )
        return salt

    def key(self, said):
        """The name of a cell: a hash of what it is, salted."""
        return hashlib.blake2b(said, key=self._salt, digest_size=32, person=b"conveil-key").hexdigest()

    def find(self, key):
        """What was kept under this name; None where there is nothing that can be trusted."""
        sealed = self._read(key + _ENDING)
        if sealed is None:
            return None
        seal, _, payload = sealed.partition(b"\n")
        if not hmac.compare_digest(seal, self._seal(key, payload)):
            return None
        return json.loads(payload)

    def store(self, key, value):
        """Keeps it under this name: the whole of it, or nothing."""
        payload = json.dumps(value).encode()
        try:
            made = self._unfinished(self._seal(key, payload) + b"\n" + payload)
            os.replace(made, self.path / (key + _ENDING))
        except OSError as error:
            raise NotWritten(f"keep={str(self.path)!r}: a finished cell cannot be written: {error.strerror}") from None

    def _seal(self, key, payload):
        sealed = hashlib.blake2b(key=self._salt, digest_size=32, person=b"conveil-seal")
        sealed.update(key.encode() + b"\n" + payload)
        return sealed.hexdigest().encode()

    def _unfinished(self, content):
        path = self.path / (_UNFINISHED + secrets.token_hex(16))
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return path

    def _read(self, name):
        """The content of a file that is the owner's alone; None of any other."""
        try:
            file = os.open(self.path / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        with os.fdopen(file, "rb") as file:
            found = os.fstat(file.fileno())
            is_own = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & _OTHERS
            return file.read() if is_own and found.st_size <= _MOST_BYTES else None
