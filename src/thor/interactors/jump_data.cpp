#include "thor/interactors/jump_tables.hpp"

// The file of tables, byte by byte.
asm(R"(
.section .rodata
.balign 16
.global thor_jump_tables, thor_jump_tables_end
.hidden thor_jump_tables, thor_jump_tables_end
thor_jump_tables:
.incbin ")" THOR_JUMP_TABLES R"("
thor_jump_tables_end:
.byte 0
.previous
)");

extern "C" __attribute__((visibility("hidden"))) const char thor_jump_tables[], thor_jump_tables_end[];

namespace thor {

JumpTables JumpTables::built_in() {
  return parse({thor_jump_tables, std::size_t(thor_jump_tables_end - thor_jump_tables)}, "the program's tables");
}

}  // namespace thor
