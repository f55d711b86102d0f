"""The bytes of a recorded disk and their identity."""

import random

from scripts.trials.disk_image import BLOCK_BYTES, DiskImage, Patch


def _random_patches(rng: random.Random, disk_bytes: int) -> list[Patch]:
    patches = []
    for _ in range(rng.randint(1, 20)):
        size = rng.randint(1, 3 * BLOCK_BYTES)
        data = bytes(size) if rng.random() < 0.3 else rng.randbytes(size)
        patches.append(Patch(rng.randrange(disk_bytes - size), data))
    return patches


def test_an_image_has_the_bytes_of_a_disk() -> None:
    """Compare with an array of bytes, after patches at any offset."""
    rng, size = random.Random(7), 16 * BLOCK_BYTES
    for _ in range(50):
        image, disk = DiskImage(), bytearray(size)
        patches = _random_patches(rng, size)
        for patch in patches:
            disk[patch.offset : patch.offset + len(patch.data)] = patch.data
        predicted = image.identity_with(patches)
        assert image.with_patches(patches).identity == predicted
        for patch in patches:
            image.apply(patch)
        rebuilt = bytearray(size)
        for run in image.runs():
            rebuilt[run.offset : run.offset + len(run.data)] = run.data
        assert rebuilt == disk
        assert image.identity == predicted


def test_equal_bytes_have_one_identity_however_they_were_written() -> None:
    """A block that is zeros again counts as never written."""
    one, other = DiskImage(), DiskImage()
    one.apply(Patch(0, b"a" * BLOCK_BYTES))
    one.apply(Patch(0, bytes(BLOCK_BYTES)))
    one.apply(Patch(100, b"xyz"))
    other.apply(Patch(100, b"x"))
    other.apply(Patch(101, b"yz"))
    assert one.identity == other.identity != DiskImage().identity
    moved = DiskImage()
    moved.apply(Patch(100 + BLOCK_BYTES, b"xyz"))
    assert moved.identity != one.identity
