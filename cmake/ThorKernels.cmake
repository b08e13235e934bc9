# The transport kernels: parallel/cpu/kernel.cpp once per instruction set, problem and precision. Each copy is in its
# own inline namespace (THOR_ISA); tests/e2e/kernel_symbols.sh checks that they share no weak symbol.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(THOR_ISAS x86_64_v2 x86_64_v3 x86_64_v4)
  set(THOR_ISA_FLAGS_x86_64_v2 -march=x86-64-v2)
  set(THOR_ISA_FLAGS_x86_64_v3 -march=x86-64-v3)
  set(THOR_ISA_FLAGS_x86_64_v4 -march=x86-64-v4 -mprefer-vector-width=512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(THOR_ISAS neon)
  set(THOR_ISA_FLAGS_neon -march=armv8-a)
else()
  message(FATAL_ERROR "no CPU kernels for ${CMAKE_SYSTEM_PROCESSOR}: add an instruction set here and in dispatch.cpp")
endif()

# As in transport/problems.hpp.
set(THOR_PROBLEMS LineProblem/Sphere LineProblem/Shell LineProblem/Slab LineProblem/UniformGrid
                  DoubletProblem/Sphere DoubletProblem/Shell MultipletProblem/Shell MultipletProblem/Slab
                  MultipletProblem/UniformGrid SelectedProblem/Shell SelectedProblem/Slab)

function(thor_add_kernels target)
  foreach(isa IN LISTS THOR_ISAS)
    foreach(name IN LISTS THOR_PROBLEMS)
      string(REPLACE "/" ";" problem ${name})
      list(GET problem 1 dataset)
      list(GET problem 0 problem)
      foreach(real float double)
        set(kernel thor_kernel_${isa}_${problem}_${dataset}_${real})
        add_library(${kernel} OBJECT ${PROJECT_SOURCE_DIR}/src/thor/parallel/cpu/kernel.cpp)
        target_include_directories(${kernel} PRIVATE ${PROJECT_SOURCE_DIR}/src)
        target_compile_definitions(${kernel} PRIVATE THOR_ISA=isa_${isa} THOR_PROBLEM=${problem}
                                                     THOR_DATASET=${dataset} THOR_REAL=${real})
        # gcc 12's own AVX-512 headers trip -Wmaybe-uninitialized.
        target_compile_options(${kernel} PRIVATE -O3 ${THOR_ISA_FLAGS_${isa}} -Wno-maybe-uninitialized)
        # The kernels touch no memory except the lanes they are given, and gcc needs five minutes for each with a
        # sanitizer: only the surrounding code is checked.
        if(THOR_SANITIZE)
          target_compile_options(${kernel} PRIVATE -fno-sanitize=all -g0)
        endif()
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:${kernel}>)
        set_property(GLOBAL APPEND PROPERTY THOR_KERNELS ${kernel})
      endforeach()
    endforeach()
  endforeach()
endfunction()
