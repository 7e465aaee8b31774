# Puts the public `headers` of `source` into `include`, with their includes as they are there:
# memverify.h, memverify/check.h, memverify/plan/plan.h, …
foreach(header IN LISTS headers)
  file(READ ${source}/${header} text)
  string(REGEX REPLACE "#include \"tools/library/" "#include \"memverify/" text "${text}")
  string(REGEX REPLACE "#include \"(plan|verify|sim|planner)/" "#include \"memverify/\\1/" text "${text}")
  if(header STREQUAL "tools/library/memverify.h")
    set(place memverify.h)
  else()
    string(REGEX REPLACE "^tools/library/" "" place "${header}")
    set(place memverify/${place})
  endif()
  file(WRITE ${include}/${place} "${text}")
endforeach()
