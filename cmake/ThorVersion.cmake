# core/version.cpp is made in two steps: known values are filled in at configure time, the commit at every build, since
# a commit does not trigger a new configuration. An unchanged file is not rewritten, so nothing is compiled needlessly.
if(CMAKE_SCRIPT_MODE_FILE)
  set(THOR_GIT_COMMIT unknown)
  if(GIT_EXECUTABLE AND EXISTS ${SOURCE_DIR}/.git)
    execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE_DIR} describe --always --dirty --abbrev=12
                    OUTPUT_VARIABLE describe OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(describe)
      set(THOR_GIT_COMMIT ${describe})
    endif()
  endif()
  configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
  return()
endif()

find_package(Git QUIET)
if(NOT GIT_FOUND)
  set(GIT_EXECUTABLE "")
endif()

function(thor_add_version target)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  string(JOIN " " THOR_CXX_FLAGS ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} ${THOR_FLAGS})
  string(REGEX REPLACE "[^ ]*/[^ ]*" "" THOR_CXX_FLAGS "${THOR_CXX_FLAGS}")
  string(REGEX REPLACE "  +" " " THOR_CXX_FLAGS "${THOR_CXX_FLAGS}")
  string(REGEX REPLACE "([\"\\])" "\\\\\\1" THOR_CXX_FLAGS "${THOR_CXX_FLAGS}")
  set(THOR_GIT_COMMIT "@THOR_GIT_COMMIT@")
  set(generated ${PROJECT_BINARY_DIR}/generated/version.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/src/thor/core/version.cpp.in ${generated}.in @ONLY)
  add_custom_target(thor_version
    COMMAND ${CMAKE_COMMAND} -DGIT_EXECUTABLE=${GIT_EXECUTABLE} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
            -DTEMPLATE=${generated}.in -DOUTPUT=${generated} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    BYPRODUCTS ${generated} COMMENT "Determining the git commit" VERBATIM)
  target_sources(${target} PRIVATE ${generated})
  add_dependencies(${target} thor_version)
endfunction()
