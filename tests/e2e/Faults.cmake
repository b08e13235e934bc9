# Tests of what goes wrong: broken configurations, faults of a run. Included by the CMakeLists.txt beside it.
thor_add_python_test(e2e.faults 300 ${CMAKE_CURRENT_SOURCE_DIR}/test_faults.py --thor $<TARGET_FILE:thor_command> -v)
set_tests_properties(e2e.faults PROPERTIES PROCESSORS 2)
