"""The contents of a recorded disk, and the identity of each state of it.

The identity of a state is a sum over its blocks, so it changes with each write at the
cost of the blocks written.  Two states have equal identities exactly if their bytes
are equal, but for a chance of 2^-64 for each pair.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

BLOCK_BYTES = 4096
SECTOR_BYTES = 512
_MASK = (1 << 64) - 1
_ZEROS = bytes(BLOCK_BYTES)


@dataclass(frozen=True)
class Patch:
    """Bytes at an offset of the disk."""

    offset: int
    data: bytes


@dataclass
class DiskImage:
    """The bytes of a disk that began as zeros; blocks of zeros are not kept."""

    blocks: dict[int, bytes] = field(default_factory=dict)  # by block number
    identity: int = 0

    def apply(self, patch: Patch) -> None:
        """Write a patch."""
        for number, content in self._changed([patch]).items():
            self._set(number, content)

    def identity_with(self, patches: Iterable[Patch]) -> int:
        """Return the identity of this image after patches, without applying them."""
        identity = self.identity
        for number, content in self._changed(patches).items():
            old = self.blocks.get(number)
            identity += _term(number, content) - _term(number, old)
        return identity & _MASK

    def with_patches(self, patches: Iterable[Patch]) -> "DiskImage":
        """Return a copy of this image after patches."""
        copy = DiskImage(dict(self.blocks), self.identity)
        for patch in patches:
            copy.apply(patch)
        return copy

    def runs(self) -> Iterator[Patch]:
        """Yield the blocks that are not zeros, those that adjoin as one patch."""
        run: list[bytes] = []
        start = 0
        for number in sorted(self.blocks):
            if run and number != start + len(run):
                yield Patch(start * BLOCK_BYTES, b"".join(run))
                run = []
            if not run:
                start = number
            run.append(self.blocks[number])
        if run:
            yield Patch(start * BLOCK_BYTES, b"".join(run))

    def _changed(self, patches: Iterable[Patch]) -> dict[int, bytes]:
        changed: dict[int, bytes] = {}
        for patch in patches:
            at, view = patch.offset, memoryview(patch.data)
            while view:
                number, skip = divmod(at, BLOCK_BYTES)
                size = min(BLOCK_BYTES - skip, len(view))
                if size == BLOCK_BYTES:
                    changed[number] = bytes(view[:size])
                else:
                    old = changed.get(number) or self.blocks.get(number, _ZEROS)
                    changed[number] = b"".join(
                        (old[:skip], view[:size], old[skip + size :])
                    )
                at, view = at + size, view[size:]
        return changed

    def _set(self, number: int, content: bytes) -> None:
        old = self.blocks.pop(number, None)
        self.identity = (
            self.identity + _term(number, content) - _term(number, old)
        ) & _MASK
        if content != _ZEROS:
            self.blocks[number] = content


def _term(number: int, content: bytes | None) -> int:
    """Return what a block adds to the identity of its image."""
    if content is None or content == _ZEROS:
        return 0
    head = number.to_bytes(8, "little")
    digest = hashlib.blake2b(content, digest_size=8, key=head).digest()
    return int.from_bytes(digest, "little")
