#!/usr/bin/env python3
"""test_hip_registers.py OBJECT...: what threads of the kernels for AMD GPUs keep outside of registers, read from the object
files. A register that has been spilled is memory that every step waits for.

Limits are what was reached (hipcc 5.2.3 with clang 15, gfx90a, one wave for each scheduler), plus 10 %."""

import pathlib
import re
import struct
import sys

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
SPILLED = 96  # bytes of a thread
SCRATCH = {"step": 176, "trace": 0}  # of a thread, with what is called by its address: reached 160 and 0


class Reader:
    """MessagePack, as the notes of AMD's code objects have it."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), "big")

    def value(self):
        kind = self.number(1)
        if kind < 0x80:
            return kind
        if kind < 0x90:
            return self.table(kind & 15)
        if kind < 0xA0:
            return [self.value() for _ in range(kind & 15)]
        if kind < 0xC0:
            return self.take(kind & 31).decode()
        if kind in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[kind]
        if 0xCC <= kind <= 0xCF:
            return self.number(1 << (kind - 0xCC))
        if 0xD9 <= kind <= 0xDB:
            return self.take(self.number(1 << (kind - 0xD9))).decode()
        if kind in (0xDC, 0xDD):
            return [self.value() for _ in range(self.number(2 << (kind - 0xDC)))]
        if kind in (0xDE, 0xDF):
            return self.table(self.number(2 << (kind - 0xDE)))
        raise ValueError(f"MessagePack of kind {kind:#x}")

    def table(self, count):
        return {self.value(): self.value() for _ in range(count)}


def code_objects(data):
    """(target, ELF) of each architecture that an object file has code for."""
    start = data.find(MAGIC)
    if start < 0:
        raise ValueError("no code for GPUs")
    at = start + len(MAGIC)
    (count,) = struct.unpack_from("<Q", data, at)
    at += 8
    for _ in range(count):
        offset, size, length = struct.unpack_from("<QQQ", data, at)
        target = data[at + 24 : at + 24 + length].decode()
        at += 24 + length
        if size and not target.startswith("host"):
            yield target, data[start + offset : start + offset + size]


def kernels_of(elf):
    """What the notes of a code object say of its kernels."""
    (offset,) = struct.unpack_from("<Q", elf, 0x28)
    entry, count = struct.unpack_from("<HH", elf, 0x3A)
    for i in range(count):
        _, kind, _, _, at, size = struct.unpack_from("<IIQQQQ", elf, offset + i * entry)
        if kind == 7:  # SHT_NOTE
            name, words = struct.unpack_from("<II", elf, at)
            text = at + 12 + (name + 3) // 4 * 4
            return Reader(elf[text : text + words]).value()["amdhsa.kernels"]
    raise ValueError("no notes")


def main(files):
    failed, seen = 0, 0
    for file in files:
        part = re.search(r"_hip_(step|trace)_", file).group(1)
        for target, elf in code_objects(pathlib.Path(file).read_bytes()):
            for kernel in kernels_of(elf):
                seen += 1
                scratch, spilled = kernel[".private_segment_fixed_size"], 4 * kernel[".vgpr_spill_count"]
                name = re.sub(r"^_ZN4thor3hip12_GLOBAL__N_1\d+", "", kernel[".name"])[:24]
                print(f"{pathlib.Path(file).stem} {target.split('-')[-1]} {name}: {kernel['.vgpr_count']} registers, "
                      f"{scratch} bytes of scratch memory, {spilled} of them spilled")
                if scratch > SCRATCH[part] or spilled > SPILLED:
                    print(f"  FAILED: more than {SCRATCH[part]} or {SPILLED} bytes")
                    failed += 1
    print(f"{seen} kernels, {failed} failed")
    return 1 if failed or not seen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
