# `cpack -G DEB` in the build folder: a Debian package of the installed files. It is not called thor, since Debian's
# ruby-thor has a command of that name; the two cannot be installed together.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME thor-rt)
set(CPACK_PACKAGE_CONTACT "the thor developers <thor@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Monte Carlo radiative transfer of resonant emission lines")
set(CPACK_PACKAGE_DESCRIPTION
"thor follows photons of resonant lines, Lyman alpha first, through gas and
dust, and writes the spectra that telescopes see. Photons advance many at a
time in the vector registers of a processor or on a GPU, and each can be
replayed. A run is described by one YAML file and written to HDF5.
.
The package contains the command, the Python package that runs it and reads its
results, the C++ library with headers, and the documentation.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian_files.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3, python3-numpy, python3-h5py, python3-matplotlib, python3-emcee, libopenblas0")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libfmt-dev, libhdf5-dev, libyaml-cpp-dev")  # to link the library
set(CPACK_DEBIAN_PACKAGE_CONFLICTS ruby-thor)
include(CPack)
