#!/bin/bash
# Outside record nothing takes run.json or live.jsonl apart: whoever parses JSON is on a list, with what he parses; whoever
# is handed run.json whole passes it on; and nobody has paths into it.
#
# usage: record_alone.sh
cd "$(dirname "$0")/.." || exit 1
fail=0
sources() { find src -name '*.cc' -o -name '*.h' | grep -v -e '^src/record/' -e '_test\.cc$' -e '/test_[a-z_]*\.h$'; }

# file, and what it parses
parsers='
src/result/json_text.h       declares the parser
src/result/json_text.cc      the parser
src/exports/exports.cc       fit.json, to copy it
src/result/output_folder.cc  export.json
src/figures/sweep_figure.cc  fit.json
src/report/run_data.cc       fit.json
src/study/fit_table.cc       rows of other programs
src/cli/fit_table.cc         rows of other programs
src/cli/compare_command.cc   compare.json, before it is replaced
src/sweep/earlier.cc         what it has just written, as a reader would see it
src/ledger/record.cc         the ledger
src/transport/control.cc     messages of ranks
src/nccl/perf_json.cc        what nccl-tests -J writes
src/reproduce/engines.cc     answers that it has kept itself
src/tables/flow_records.cc   lines of Zeek and others
src/tables/iperf_table.cc    what iperf3 -J writes
src/foreign/astra_network.cc configurations of ASTRA-sim
src/fleet/link.cc            messages of hosts
src/cluster/pool.cc          messages of workers
src/fleet/host_process.cc    what its host was told
src/carrier/mpi/mpi_carrier.cc contacts of ranks
'
# file that is handed run.json whole
handed='
src/exports/exports.cc       copies it
src/exports/sqlite_file.cc   all its facts, whatever they are
src/report/run_data.cc       hands it to the page
'

complain() {  # what, list, files...
  local what=$1 list=$2 file
  shift 2
  for file in "$@"; do
    if ! grep -q "^$file " <<<"$list"; then
      echo "$file $what: what a run has found is read by record alone"
      fail=1
    fi
  done
}

mapfile -t files < <(sources)
complain "parses JSON" "$parsers" $(grep -lE '(\b(read_json|parse_json)|json::parse)\(' "${files[@]}")
complain "takes run.json whole" "$handed" \
  $(grep -lE '\b(document_of|provenance_document|summary_document|summary_without_times)\(.*\bfile\b' "${files[@]}")
complain "has paths into JSON" "" $(grep -lE 'json_pointer' "${files[@]}")
exit $fail
