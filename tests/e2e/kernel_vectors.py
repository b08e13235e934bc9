#!/usr/bin/env python3
"""kernel_vectors.py [--rejects] OBJECT_OR_DIRECTORY...

Disassembles the pack kernels (advance_pack, jump_pack, march_pack) and checks which registers they compute in: they must work
in vector registers of full width. A compiler that fails to vectorise a part of it does so silently, and the photons stay
correct. For each object:

  - floating-point arithmetic is packed and in the widest registers: zmm (x86_64_v4), ymm (v3), xmm (v2), .4s/.2d (neon),
  - no scalar arithmetic is done on data of a lane. A scalar operation whose operands all come from the problem (the
    second argument, the same for all lanes) or from constants is done once for all lanes and does not count: it is followed
    from there through registers and the stack, along every path. Anything else is a lane's: what a packed instruction left
    in a register, an element taken out of one, what is read through an index.
  - nothing is called except jump_pack between steps, and in the kernel that has all schemes of `numerics` (SelectedProblem):
    a scheme may stay a separate function there, which no other instruction set shares (kernel_symbols.sh).

--rejects: the twin of the check. Each object must fail it, except those named *_good.
Environment: OBJDUMP.
"""
import functools
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

LIMIT_LANES = 8  # kernels have 0 to 2 that could not be traced; one small function per lane has 12
LIMIT_NARROW = 0.05  # of the packed
LEAST_PACKED = 100
PACK_KERNELS = "(advance|jump|march)_pack"
NO_RETURN = "__stack_chk_fail"  # called by compilers that guard the stack, with other code of the function after it

# State of a register or stack slot: it points to the problem or to constants; is the same for all lanes; may belong to
# one lane. What was not written on a path is not read after it.
PROBLEM, UNIFORM, LANE = "problem", "uniform", "lane"


@dataclass
class Instruction:
    address: int
    op: str
    operands: list
    text: str


@dataclass
class Count:
    packed: int = 0
    narrow: int = 0
    uniform: int = 0
    calls: list = field(default_factory=list)
    lanes: list = field(default_factory=list)


def split(text):
    """Operands, split at the commas outside brackets."""
    parts, depth, last = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append(text[last:i].strip())
            last = i + 1
    return [p for p in parts + [text[last:].strip()] if p]


def disassemble(path):
    """The instructions of each pack kernel of an object, by the function's name."""
    objdump = os.environ.get("OBJDUMP") or "objdump"
    listing = subprocess.run([objdump, "-dr", "--no-show-raw-insn", path], check=True, capture_output=True, text=True).stdout
    functions, current = {}, None
    for line in listing.splitlines():
        head = re.match(r"^[0-9a-f]+ <(.*)>:$", line)
        if head:
            current = None
            if re.search(PACK_KERNELS, head[1]):
                current = functions.setdefault(head[1], [])
        elif current is not None:
            relocation = re.match(r"^\s+[0-9a-f]+: R_\w+\s+(\S+)", line)
            if relocation and current:
                current[-1].text += " -> " + relocation[1]
                continue
            found = re.match(r"^\s*([0-9a-f]+):\t(\{\w+\}\s+)?(\S+)\s*(.*)$", line)
            if found:
                operands = re.sub(r"\s*(//\s|#\s|<).*$", "", found[4])  # without remarks
                text = re.sub(r"\s*<(?!.*jump_pack).*", "", line.strip())
                current.append(Instruction(int(found[1], 16), found[3], split(operands), text))
    return functions


class X86:
    """AT&T syntax: the destination is the last operand."""
    ENTRY = {"rsi": PROBLEM, "rdx": UNIFORM}
    KEPT = ("rbx", "rbp", "r12", "r13", "r14", "r15")
    CALL, RETURN, JUMP = re.compile("call"), re.compile("ret"), re.compile("jmp")
    BRANCH = re.compile(r"j\w+$")
    ARITHMETIC = re.compile(r"v?(add|sub|mul|div|sqrt|rsqrt|rcp|min|max|round|rndscale|fn?m(?:add|sub)(?:132|213|231))(14)?"
                            r"([sp])[sd]$")
    NAMES = {f"{p}{n}": f"r{n}" for n in ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp") for p in ("e", "r")}

    def __init__(self, isa):
        self.wide = {"x86_64_v4": "%zmm", "x86_64_v3": "%ymm"}.get(isa, "%xmm")

    @staticmethod
    @functools.cache
    def register(operand):
        name = re.sub(r"\{.*", "", operand.lstrip("%"))
        vector = re.match(r"[xyz]mm(\d+)$", name)
        if vector:
            return "v" + vector[1]
        name = re.sub(r"^(r\d+)[dwb]$", r"\1", name)
        return X86.NAMES.get(name, name) if operand.startswith("%") else None

    @staticmethod
    @functools.cache
    def place(operand):
        """Base and key of a memory operand; None for one with an index."""
        found = re.match(r"^(-?0x[0-9a-f]+|-?\d+)?\(%(\w+)\)$", operand)
        return (found[2], f"[{found[2]}{int(found[1] or '0', 0):+d}]", int(found[1] or "0", 0)) if found else None

    def value(self, operand, state):
        if operand.startswith("$"):
            return UNIFORM
        if "(" not in operand:
            return state.get(self.register(operand))
        place = self.place(operand)
        if not place:
            return None
        if place[0] == "rip" or state.get(self.register("%" + place[0])) == PROBLEM:
            return UNIFORM
        return state.get(place[1]) if place[0] in ("rsp", "rbp") else None

    def store(self, operand, state, value, size):
        if "(" not in operand:
            return put(state, self.register(operand), value)
        place = self.place(operand)
        if not place or place[0] not in ("rsp", "rbp"):
            return None
        for key in [k for k in state if k.startswith(f"[{place[0]}")]:
            at = int(key[1 + len(place[0]):-1])
            if place[2] - 4 < at < place[2] + size:
                state[key] = LANE
        return put(state, place[1], value)

    def step(self, i, state, count):
        op, operands = i.op, i.operands
        if not operands or op.startswith(("cmp", "test", "ucomi", "comi", "vucomi", "vcomi", "nop", "j", "bt", "prefetch")):
            return
        target, sources = operands[-1], operands[:-1]
        known = self.ARITHMETIC.match(op)
        size = 64 if "%zmm" in i.text else 32 if "%ymm" in i.text else 16 if "%xmm" in i.text else 8
        if known and known[3] == "p":
            if count:
                wide = self.wide in i.text
                count.packed += wide
                count.narrow += not wide
            return self.store(target, state, None, size)
        if known:
            inputs = sources + ([target] if "fm" in op or "fnm" in op or not op.startswith("v") and "sqrt" not in op else [])
            if op.startswith("vsqrt"):
                inputs = sources[:1]
            same = all(self.value(o, state) == UNIFORM for o in inputs if not o.startswith("$"))
            if count:
                count.uniform += same
                count.lanes += [] if same else [i.text]
            return self.store(target, state, UNIFORM if same else None, 8)
        if re.match(r"v?(xor|andn?|or)p[sd]$|v?p(xor|and|or)[dq]?$", op) and "%xmm" in target:
            same = len(set(operands)) == 1 and "xor" in op
            inputs = operands if not op.startswith("v") else sources
            same = same or all(self.value(o, state) == UNIFORM for o in inputs)
            return self.store(target, state, UNIFORM if same else None, 16)
        if re.match(r"v?cvt(t?s[sd]2(s[sd]|si)|si2s[sd])[lq]?$", op):
            return self.store(target, state, self.value(sources[0], state), 8)
        if re.match(r"v?(movs[sd]|mov[dq]|pbroadcast[dq]|broadcasts[sd])$|mov[lq]?$|movabs$|vmovs[sd]$", op):
            value = self.value(sources[0], state)
            if len(sources) == 2:  # of two registers
                value = value if value == self.value(sources[1], state) else None
            if op.startswith(("v", "movs")) and value == PROBLEM and "(" not in target:
                value = UNIFORM
            return self.store(target, state, value, 4 if re.match(r"v?mov(ss|d|l)$", op) else 8)
        if re.match(r"v?mov[au]p[sd]$|v?movdq[au]\d*$", op):
            constant = "(" in sources[0] and "%rsp" not in sources[0]  # whose elements may differ
            return self.store(target, state, None if constant else self.value(sources[0], state), size)
        if op == "lea" and self.place(sources[0]):
            base = state.get(self.register("%" + self.place(sources[0])[0]))
            return self.store(target, state, PROBLEM if base == PROBLEM or "rip" in sources[0] else None, 8)
        if op == "pop" or op == "push":
            return self.store(target, state, None, 8) if op == "pop" else None
        self.store(target, state, None, size)


class Neon:
    """The destination is the first operand."""
    ENTRY = {"x1": PROBLEM, "x2": UNIFORM}
    KEPT = tuple(f"x{n}" for n in range(19, 30)) + tuple(f"v{n}" for n in range(8, 16))
    CALL, RETURN, JUMP = re.compile("blr?$"), re.compile("ret"), re.compile("br?$")
    BRANCH = re.compile(r"b\.\w+$|b$|cbn?z$|tbn?z$")
    ARITHMETIC = re.compile(r"f(add|sub|mul|div|sqrt|min|max|minnm|maxnm|mla|mls|madd|msub|nmadd|nmsub|nmul|abd|rint\w|"
                            r"recp[es]|rsqrt[es])$")

    def __init__(self, isa):
        self.wide = re.compile(r"\.(4s|2d)\b")

    @staticmethod
    @functools.cache
    def register(operand):
        vector = re.match(r"[vqdshb](\d+)(\.|$)", operand)
        if vector:
            return "v" + vector[1]
        general = re.match(r"[xw](\d+)$", operand)
        return "x" + general[1] if general else operand if operand == "sp" else None

    @staticmethod
    @functools.cache
    def place(operand):
        found = re.match(r"^\[(\w+)(?:, #(-?(?:0x)?[0-9a-f]+))?\]!?$", operand)
        return (found[1], int(found[2] or "0", 0)) if found else None

    def value(self, operand, state):
        if operand.startswith("#"):
            return UNIFORM
        if operand in ("wzr", "xzr"):
            return UNIFORM
        if not operand.startswith("["):
            return state.get(self.register(operand))
        place = self.place(operand)
        if not place:
            return None
        if state.get(self.register(place[0])) == PROBLEM:
            return UNIFORM
        return state.get(f"[{place[0]}{place[1]:+d}]") if place[0] in ("sp", "x29") else None

    @staticmethod
    def size(operand):
        return {"q": 16, "d": 8, "s": 4, "w": 4, "x": 8}.get(operand[0], 16)

    def forget(self, state, base, low=None, high=None):
        for key in [k for k in state if k.startswith(f"[{base}")]:
            at = int(key[1 + len(base):-1])
            if low is None or low - 4 < at < high:
                state[key] = LANE

    def step(self, i, state, count):
        op, operands = i.op, i.operands
        if not operands or self.BRANCH.match(op) or op in ("cmp", "cmn", "tst", "fcmp", "fcmpe", "fccmp", "ccmp", "nop", "prfm"):
            return
        target, sources = operands[0], operands[1:]
        scalar = re.match(r"[sd]\d+$", target)
        if self.ARITHMETIC.match(op):
            same = scalar and all(self.value(o, state) == UNIFORM and "." not in o for o in sources)
            if count and self.wide.search(target):
                count.packed += 1
            elif count and not scalar:
                count.narrow += 1
            elif count:
                count.uniform += bool(same)
                count.lanes += [] if same else [i.text]
            return put(state, self.register(target), UNIFORM if same else None)
        memory = next((o for o in operands if o.startswith("[")), None)
        if memory:
            place = self.place(memory)
            stores = op.startswith("st")
            data = operands[:operands.index(memory)]
            if place and stores and place[0] in ("sp", "x29") and not data[0].startswith("{"):
                at = place[1]
                for o in data:
                    self.forget(state, place[0], at, at + self.size(o))
                    put(state, f"[{place[0]}{at:+d}]", self.value(o, state))
                    at += self.size(o)
            elif not stores:
                at = place[1] if place else 0
                for o in data:
                    one = f"[{place[0]}, #{at}]" if place else memory
                    simple = op in ("ldr", "ldur", "ldp", "ldrsw", "ldrb", "ldrh") and not o.startswith("{")
                    value = self.value(one, state) if simple else None
                    if o.startswith("q") and place and place[0] not in ("sp", "x29"):
                        value = None  # a vector has equal elements only if it was made so
                    if op == "ld1r" and place and state.get(self.register(place[0])) == PROBLEM:
                        value = UNIFORM
                    put(state, self.register(o.strip("{}").strip()), value)
                    at += self.size(o)
            if memory.endswith("!") or operands.index(memory) + 1 < len(operands):  # which moves the base
                base = re.match(r"\[(\w+)", memory)[1]
                self.forget(state, base)
                if base != "sp":
                    put(state, self.register(base), None)
            return
        if op in ("mov", "fmov", "movi", "mvni", "fabs", "fneg", "fcvt", "scvtf", "ucvtf", "fcsel", "dup", "movz"):
            inputs = sources[:2] if op == "fcsel" else sources[:1]
            values = [self.value(o, state) for o in inputs]
            broadcast = op == "dup" and "." in target and sources[0].endswith("[0]")
            taken = any(o.endswith("]") for o in sources) and not broadcast  # one element of many
            value = values[0] if len(set(values)) == 1 and not taken else None
            return put(state, self.register(target), UNIFORM if value == PROBLEM and op != "mov" else value)
        if op in ("adrp", "adr"):
            return put(state, self.register(target), PROBLEM)
        if op == "add" and len(sources) >= 2 and sources[1].startswith("#"):
            return put(state, self.register(target), PROBLEM if state.get(self.register(sources[0])) == PROBLEM else None)
        if op == "movk":
            return
        if target == "sp":
            self.forget(state, "sp")
        put(state, self.register(target), None)


def put(state, key, value):
    if key:
        state[key] = value or LANE


def count_function(code, machine, count, spared):
    """Traces values that are the same for all lanes to a fixed point over the blocks, then counts. `spared` says which
    registers a call of jump_pack leaves alone: the compiler knows, too."""
    index = {i.address: k for k, i in enumerate(code)}
    ends, starts, targets = set(), {0}, {}
    for k, i in enumerate(code):
        if machine.BRANCH.match(i.op) or machine.JUMP.match(i.op):
            found = re.search(r"\b([0-9a-f]+)$", i.operands[-1]) if i.operands else None
            target = index.get(int(found[1], 16)) if found else None
            targets[k] = target
            starts |= {k + 1} | ({target} if target is not None else set())
        elif machine.RETURN.match(i.op) or NO_RETURN in i.text:
            starts.add(k + 1)
            ends.add(k)
    edges = sorted(s for s in starts if s < len(code))
    block_end = {s: e for s, e in zip(edges, edges[1:] + [len(code)])}

    def run(start, counter):
        state = dict(before[start])
        for k in range(start, block_end[start]):
            i = code[k]
            if machine.CALL.match(i.op):
                jumps = "jump_pack" in i.text
                if counter and not jumps and NO_RETURN not in i.text:
                    counter.calls.append(i.text)
                state = {r: v if r in machine.KEPT or r.startswith("[") or jumps and spared(r) else LANE
                         for r, v in state.items()}
            else:
                machine.step(i, state, counter)
        last = block_end[start] - 1
        following = [targets[last]] if targets.get(last) is not None else []
        if last not in ends and not machine.JUMP.match(code[last].op) and last + 1 < len(code):
            following.append(last + 1)
        return state, following

    before, work = {0: dict(machine.ENTRY)}, {0}
    while work:
        start = min(work)  # in the order of the code, so that most blocks are seen once for all that come before
        work.remove(start)
        state, following = run(start, None)
        for to in following:
            old = before.get(to)
            new = state if old is None else state | {k: v if state.get(k, v) == v else LANE for k, v in old.items()}
            if new != old:
                before[to] = dict(new)
                work.add(to)
    for start in before:
        run(start, count)


def check(path):
    """Line to print for an object, and whether it passes."""
    kernel = re.search(r"thor_(?:kernel|twin)_([^/]*)\.dir/", path)[1]
    isa = re.match(r"x86_64_v\d|[a-z]+", kernel)[0]
    machine = X86(isa) if isa.startswith("x86") else Neon(isa)
    functions = disassemble(path)
    if not functions:
        return f"{kernel:45} no function {PACK_KERNELS} in this object", False
    used = {machine.register(o) for name, code in functions.items() if "jump_pack" in name for i in code for o in i.operands}
    count = Count()
    for code in functions.values():
        count_function(code, machine, count, lambda register: register not in used)
    calls = [] if "SelectedProblem_" in kernel else count.calls
    slow = [text for text in count.lanes if re.search(r"\b[vf]?(div|sqrt)", text)]
    least = LEAST_PACKED // 4 if "_March" in kernel else LEAST_PACKED  # no collisions
    bad = (count.packed < least or len(count.lanes) > LIMIT_LANES or slow
           or count.narrow > LIMIT_NARROW * count.packed or calls)
    text = (f"{kernel:45} {count.packed:5} packed, {count.narrow:3} narrower, {len(count.lanes):3} scalar on lanes, "
            f"{count.uniform:3} scalar for all, {len(count.calls)} calls")
    if bad:
        text += (f"  FAILED (at least {least} packed, narrower below {LIMIT_NARROW:.0%}, at most {LIMIT_LANES} "
                 f"scalar on lanes, no root or division among them, no calls)")
        text += "".join(f"\n    {line}" for line in count.lanes[:12] + calls[:5])
    return text, not bad


def main():
    places = [a for a in sys.argv[1:] if a != "--rejects"]
    rejects = "--rejects" in sys.argv
    if not places:
        sys.exit("usage: kernel_vectors.py [--rejects] OBJECT_OR_DIRECTORY...")
    kind = "twin" if rejects else "kernel"
    objects = sorted({str(o) for p in places for o in ([Path(p)] if Path(p).is_file() else Path(p).rglob("*.o"))
                      if f"thor_{kind}_" in str(o) and "Numerics_" not in str(o)  # births and ends: one photon at a time
                      and "_Trace_" not in str(o)})  # rays of the raytracing driver begin one at a time, in the same function
    if not objects:
        sys.exit(f"kernel_vectors: no objects (thor_{kind}_*.dir/**/*.o) under: {' '.join(places)}")
    failed = False
    for path in objects:
        text, good = check(path)
        wanted = not rejects or "_good.dir" in path
        failed = failed or good != wanted
        print(text + ("" if good == wanted else "  NOT AS IT SHOULD BE"))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
