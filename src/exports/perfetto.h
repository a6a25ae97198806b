// SPDX-License-Identifier: Apache-2.0
// A timeline as a native Perfetto trace (TrackEvent), for ui.perfetto.dev and trace_processor.
//
// Field numbers are those of protos/perfetto/trace in google/perfetto: trace_packet.proto,
// clock_snapshot.proto, interned_data/interned_data.proto, and in track_event/
// track_descriptor.proto, track_event.proto, counter_descriptor.proto, process_descriptor.proto,
// thread_descriptor.proto, debug_annotation.proto. A process of the timeline is a process, a track
// with slices a thread, a counter a counter track of its process. Names are interned: written once,
// then meant by number.

#pragma once

#include "trainwire/result/output_folder.h"
#include "trainwire/timeline/timeline.h"

#include <string>

namespace tw::exports {

/// NAME.perfetto-trace. Throws SystemError.
void write_perfetto(result::OutputFolder& folder, const std::string& name,
                    const timeline::Timeline& timeline);

}  // namespace tw::exports
