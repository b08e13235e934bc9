# The tables of sphere jumps, built into the program as they are.
function(thor_add_jumps target)
  set(tables ${PROJECT_SOURCE_DIR}/data/jumps.tables)
  set(source ${PROJECT_SOURCE_DIR}/src/thor/interactors/jump_data.cpp)
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${tables} SKIP_UNITY_BUILD_INCLUSION ON
                                                   COMPILE_DEFINITIONS "THOR_JUMP_TABLES=\"${tables}\"")
endfunction()
