# The manual page and the shell completions, printed by the command itself.
function(thor_add_manual)
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(folder ${PROJECT_BINARY_DIR}/manual)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${folder}/thor.1 ${folder}/thor.bash ${folder}/_thor
    COMMAND thor_command manual > ${folder}/thor.1
    COMMAND thor_command completion bash > ${folder}/thor.bash
    COMMAND thor_command completion zsh > ${folder}/_thor
    DEPENDS thor_command COMMENT "Printing the manual page and the completions" VERBATIM)
  add_custom_target(thor_manual ALL DEPENDS ${folder}/thor.1 ${folder}/thor.bash ${folder}/_thor)
  install(FILES ${folder}/thor.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${folder}/thor.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME thor)
  install(FILES ${folder}/_thor DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endfunction()
