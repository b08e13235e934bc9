# NVIDIA GPUs: the sources of parallel/gpu, compiled with nvcc.
# CMAKE_CUDA_ARCHITECTURES: "native" if a GPU is present, otherwise 80 (Ampere) and 90 (Hopper); a newer GPU uses the
# PTX.
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(FATAL_ERROR "THOR_CUDA=ON, but nvcc was not found: put it on the PATH or set CMAKE_CUDA_COMPILER")
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  execute_process(COMMAND nvidia-smi -L OUTPUT_VARIABLE thor_gpus ERROR_QUIET RESULT_VARIABLE thor_no_gpu)
  if(thor_no_gpu EQUAL 0 AND thor_gpus MATCHES "GPU 0")
    set(CMAKE_CUDA_ARCHITECTURES native CACHE STRING "GPU architectures")
  else()
    set(CMAKE_CUDA_ARCHITECTURES 80 90 CACHE STRING "GPU architectures")
  endif()
endif()
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc supports it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
find_package(CUDAToolkit REQUIRED)
message(STATUS "CUDA backend: nvcc ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")

# The -O and -g of a build type apply to the host: device code is always optimised.
# As on the CPU: no contraction, correctly rounded division and square root, denormals flushed to zero, so that photons
# are the same.
set(THOR_CUDA_FLAGS -fmad=false -ftz=true -prec-div=true -prec-sqrt=true --expt-relaxed-constexpr)
if(THOR_WERROR)
  list(APPEND THOR_CUDA_FLAGS -Werror=all-warnings)
endif()

function(thor_cuda_target target)
  target_compile_definitions(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:THOR_ISA=isa_cuda>)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:${THOR_CUDA_FLAGS}>)
endfunction()

function(thor_cuda_object target name kind)
  set(source_step kernel.cu)
  set(source_trace trace.cu)
  add_library(${name} OBJECT ${PROJECT_SOURCE_DIR}/src/thor/parallel/gpu/${source_${kind}})
  thor_cuda_target(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${THOR_GENERATED})
  target_compile_definitions(${name} PRIVATE ${ARGN})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${name}>)
endfunction()

function(thor_add_cuda target)
  thor_add_gpu(${target} cuda CUDA::cudart_static)
endfunction()
