#pragma once
#include <cstddef>
#include <string>
#include <string_view>

/// The runtime of a backend: vendors differ in the first letters of names, and THOR_CALL(Name) is one of them. The
/// runtime.hpp of a backend includes this, and adds what differs in more.
namespace thor::THOR_BACKEND {

using Status = THOR_CALL(Error_t);
using Stream = THOR_CALL(Stream_t);
inline constexpr Status success = THOR_CALL(Success), out_of_memory = THOR_CALL(ErrorMemoryAllocation);
inline constexpr Status no_device = THOR_CALL(ErrorNoDevice);

inline const char* text_of(Status status) { return THOR_CALL(GetErrorString)(status); }
inline const char* name_of(Status status) { return THOR_CALL(GetErrorName)(status); }
inline Status take_error() { return THOR_CALL(GetLastError)(); }

inline Status get_driver(int& version) { return THOR_CALL(DriverGetVersion)(&version); }
inline Status count_devices(int& count) { return THOR_CALL(GetDeviceCount)(&count); }
inline Status set_device(int index) { return THOR_CALL(SetDevice)(index); }
/// The host sleeps while it waits: its processors have other work.
inline Status set_patient() { return THOR_CALL(SetDeviceFlags)(THOR_CALL(DeviceScheduleBlockingSync)); }
inline Status get_memory(std::size_t& free, std::size_t& total) { return THOR_CALL(MemGetInfo)(&free, &total); }
inline Status create(Stream& stream) { return THOR_CALL(StreamCreateWithFlags)(&stream, THOR_CALL(StreamNonBlocking)); }
inline void destroy(Stream stream) { (void)THOR_CALL(StreamDestroy)(stream); }
inline Status wait(Stream stream) { return THOR_CALL(StreamSynchronize)(stream); }

inline Status allocate(void*& memory, std::size_t bytes) { return THOR_CALL(Malloc)(&memory, bytes); }
inline void release(void* memory) { (void)THOR_CALL(Free)(memory); }
inline Status copy_in(void* device, const void* host, std::size_t bytes, Stream stream) {
  return THOR_CALL(MemcpyAsync)(device, host, bytes, THOR_CALL(MemcpyHostToDevice), stream);
}
inline Status copy_out(void* host, const void* device, std::size_t bytes, Stream stream) {
  return THOR_CALL(MemcpyAsync)(host, device, bytes, THOR_CALL(MemcpyDeviceToHost), stream);
}
inline Status fill(void* device, int byte, std::size_t bytes, Stream stream) {
  return THOR_CALL(MemsetAsync)(device, byte, bytes, stream);
}
/// Whether this build has a kernel for the current device.
inline Status find_kernel(const void* kernel) {
  THOR_CALL(FuncAttributes) attributes;
  return THOR_CALL(FuncGetAttributes)(&attributes, kernel);
}

}  // namespace thor::THOR_BACKEND
