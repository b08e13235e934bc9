# Tests in Python.

# An interpreter with numpy and h5py: Debian's own first, since another one on the PATH often lacks them.
set(e2e_python)
foreach(candidate /usr/bin/python3 ${Python3_EXECUTABLE})
  if(NOT e2e_python AND EXISTS ${candidate})
    execute_process(COMMAND ${candidate} -c "import numpy, h5py" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed EQUAL 0)
      set(e2e_python ${candidate})
    endif()
  endif()
endforeach()

function(thor_add_python_test name timeout)
  if(e2e_python)
    add_test(NAME ${name} COMMAND ${e2e_python} ${ARGN})
  else()
    add_test(NAME ${name}
             COMMAND sh -c "echo 'SKIPPED: no python3 has numpy and h5py (python3-numpy, python3-h5py)' >&2; exit 77")
  endif()
  # Where nothing is known of their times, those that take longest begin first: the short ones keep all processors busy to the end.
  set_tests_properties(${name} PROPERTIES LABELS e2e TIMEOUT ${timeout} SKIP_RETURN_CODE 77 COST 10)
endfunction()

if(NOT e2e_python)
  message(WARNING "No python3 has numpy and h5py: the end-to-end tests of the command and of the Python package "
                  "will be SKIPPED.")
endif()

# Adds each class of a file as a test of its own, NAME.CLASS: for files that would take long in one piece.
function(thor_add_test_classes name file)
  set(classes all)
  if(e2e_python)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    execute_process(COMMAND ${e2e_python} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/list_classes.py ${file}
                    OUTPUT_VARIABLE classes COMMAND_ERROR_IS_FATAL ANY)
  endif()
  foreach(class IN LISTS classes)
    thor_add_python_test(${name}.${class} 300 ${file} ${class} ${ARGN})
  endforeach()
endfunction()
