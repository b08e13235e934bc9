# Run by CPack on the files of the package: adds what Debian requires beyond a normal installation.
set(usr ${CPACK_TEMPORARY_DIRECTORY}/usr)
set(doc ${usr}/share/doc/${CPACK_PACKAGE_NAME})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# CPack strips programs but not static libraries.
file(GLOB_RECURSE archives ${usr}/lib/*.a)
foreach(archive IN LISTS archives)
  run(strip --strip-debug --enable-deterministic-archives ${archive})
endforeach()

file(READ ${usr}/share/doc/thor/LICENSE licence)
string(REPLACE "\n\n" "\n.\n" licence "${licence}")
string(STRIP "${licence}" licence)
string(REPLACE "\n" "\n " licence "${licence}")
file(WRITE ${doc}/copyright
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: thor

Files: *
Copyright: the thor developers
License: BSD-3-clause
 ${licence}
")
file(REMOVE ${usr}/share/doc/thor/LICENSE)
configure_file(${usr}/share/doc/thor/CHANGELOG.md ${doc}/changelog COPYONLY)
file(REMOVE ${usr}/share/doc/thor/CHANGELOG.md)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog.Debian
"${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * See changelog.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")

file(GLOB pages ${usr}/share/man/man1/*.1)
run(gzip -9n ${doc}/changelog ${doc}/changelog.Debian ${pages})

# Debian's zsh does not search site-functions in /usr.
if(EXISTS ${usr}/share/zsh/site-functions)
  file(RENAME ${usr}/share/zsh/site-functions ${usr}/share/zsh/vendor-completions)
endif()
