# The tables of sphere jumps, built into the program as they are. Their checksum is among the definitions, so that a cache
# of compilers sees when they change.
function(thor_add_jumps)
  set(tables ${PROJECT_SOURCE_DIR}/data/jumps.tables)
  set(source ${PROJECT_SOURCE_DIR}/src/thor/interactors/jump_data.cpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tables})
  file(SHA256 ${tables} sum)
  set_source_files_properties(
    ${source} PROPERTIES OBJECT_DEPENDS ${tables} SKIP_UNITY_BUILD_INCLUSION ON
                         COMPILE_DEFINITIONS "THOR_JUMP_TABLES=\"${tables}\";THOR_JUMP_TABLES_SUM=${sum}")
endfunction()
