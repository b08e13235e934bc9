# Tests of what goes wrong, and of what thor says. Included by the CMakeLists.txt beside it.
foreach(name refusals run_faults results zarr_results messages printed lines caveats disk safe_files signals strange_inputs)
  thor_add_python_test(e2e.${name} 300 ${CMAKE_CURRENT_SOURCE_DIR}/test_${name}.py --thor $<TARGET_FILE:thor_command> -v)
endforeach()
