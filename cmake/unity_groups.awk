# Sorts sources into groups that can be compiled as one unit: awk -v size=N -f unity_groups.awk KIND=header H... KIND=source S...
# prints "GROUP SOURCE" for each source. Files of a group declare no name twice in their unnamed namespaces, and none that a
# header given here declares; names are read off lines that begin in the first column, which is where clang-format puts declarations.

# The names a line in the first column declares; more than these do no harm.
function note_names(line,    name) {
  if (line ~ /^using [^=]*$/ || line ~ /^[}\/*]/ || line ~ /^(namespace|extern|template|public|private|static_assert)/) return
  if (match(line, /^(TEST|TEST_F|TEST_P|TYPED_TEST|INSTANTIATE_TEST_SUITE_P)\([A-Za-z_0-9]+, [A-Za-z_0-9]+/)) {
    add(substr(line, RSTART, RLENGTH))
    return
  }
  while (match(line, /[A-Za-z_][A-Za-z_0-9]*( =|[({\[;]| *$| \{| : )/)) {
    name = substr(line, RSTART, RLENGTH)
    sub(/[^A-Za-z_0-9].*$/, "", name)
    add(name)
    line = substr(line, RSTART + RLENGTH)
  }
}
function add(name) {
  if (KIND == "header") public[name] = 1
  else names[FILENAME] = names[FILENAME] " " name
}
FNR == 1 {
  unnamed = 0
  if (KIND == "source") order[++count] = FILENAME
}
KIND == "source" && /^#define/ { alone[FILENAME] = 1 }
/^namespace \{/ { unnamed = 1; next }
/^\}  \/\/ namespace$/ { unnamed = 0; next }
/^[A-Za-z_]/ && (KIND == "header" || unnamed || /^static /) { note_names($0) }

# First fit: a file joins the first group that has room and none of its names.
END {
  for (i = 1; i <= count; ++i) {
    file = order[i]
    number = split(names[file], own, " ")
    for (n = 1; n <= number; ++n) if (own[n] in public) alone[file] = 1
    place = 0
    for (g = 1; !(file in alone) && g <= groups && !place; ++g) {
      if (closed[g] || members[g] >= size) continue
      place = g
      for (n = 1; n <= number; ++n) if ((g, own[n]) in taken) place = 0
    }
    if (!place) place = ++groups
    if (file in alone) closed[place] = 1
    ++members[place]
    for (n = 1; n <= number; ++n) taken[place, own[n]] = 1
    print place, file
  }
}
