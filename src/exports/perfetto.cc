// SPDX-License-Identifier: Apache-2.0
#include "trainwire/exports/perfetto.h"

#include "trainwire/timeline/lanes.h"

#include <protozero/pbf_writer.hpp>

#include <functional>
#include <map>

namespace tw::exports {
namespace {

using protozero::pbf_writer;

// Numbers of fields and values, by message.
using Tag = protozero::pbf_tag_type;
constexpr Tag kTracePacket = 1;
struct Packet {
  static constexpr Tag kClockSnapshot = 6, kTimestamp = 8, kSequence = 10, kTrackEvent = 11;
  static constexpr Tag kInternedData = 12, kSequenceFlags = 13, kTrackDescriptor = 60;
  static constexpr std::uint32_t kStateCleared = 1, kNeedsState = 2;
};
struct ClockSnapshot {
  static constexpr Tag kClocks = 1, kClockId = 1, kClockTimestamp = 2;
  static constexpr std::uint32_t kRealtime = 1, kBoottime = 6;
};
struct InternedData {
  static constexpr Tag kEventNames = 2, kAnnotationNames = 3, kNumber = 1, kName = 2;
};
struct Descriptor {
  static constexpr Tag kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
  static constexpr Tag kProcessPid = 1, kProcessName = 6;
  static constexpr Tag kThreadPid = 1, kThreadTid = 2, kThreadName = 5;
  static constexpr Tag kCounterUnitName = 6;
};
struct Event {
  static constexpr Tag kAnnotations = 4, kType = 9, kNameNumber = 10, kTrack = 11;
  static constexpr Tag kDoubleValue = 44, kAnnotationNameNumber = 1, kAnnotationInteger = 4;
  static constexpr int kBegin = 1, kEnd = 2, kCounterValue = 4;
};

/// Numbers of names, from 1 on in the order of first use.
class Names {
 public:
  struct Entry {
    std::uint64_t number;
    bool is_new;
  };
  Entry number_of(const std::string& name) {
    const auto [found, added] = numbers_.emplace(name, numbers_.size() + 1);
    return {.number = found->second, .is_new = added};
  }

 private:
  std::map<std::string, std::uint64_t, std::less<>> numbers_;
};

class PerfettoFile {
 public:
  PerfettoFile(result::OutputFolder& folder, const std::string& name)
      : file_(folder, name + ".perfetto-trace", "perfetto") {}

  /// The time since boot, which viewers count in, is that since 1970 here; with that they can show
  /// the time of day.
  void begin(std::int64_t time_ns) {
    add([&](pbf_writer& out) {
      out.add_uint64(Packet::kTimestamp, static_cast<std::uint64_t>(time_ns));
      out.add_uint32(Packet::kSequenceFlags, Packet::kStateCleared);
      pbf_writer snapshot(out, Packet::kClockSnapshot);
      for (const std::uint32_t id : {ClockSnapshot::kBoottime, ClockSnapshot::kRealtime}) {
        pbf_writer clock(snapshot, ClockSnapshot::kClocks);
        clock.add_uint32(ClockSnapshot::kClockId, id);
        clock.add_uint64(ClockSnapshot::kClockTimestamp, static_cast<std::uint64_t>(time_ns));
      }
    });
  }

  void write(const timeline::Process& process) {
    const std::uint64_t uuid = ++last_uuid_;
    const auto pid = static_cast<std::int32_t>(++last_pid_);
    describe(uuid, process.name, [&](pbf_writer& track) {
      pbf_writer body(track, Descriptor::kProcess);
      body.add_int32(Descriptor::kProcessPid, pid);
      body.add_string(Descriptor::kProcessName, process.name);
    });
    for (const timeline::Track& track : process.tracks) {
      if (track.values.empty()) {
        write_slices(track, pid);
      } else {
        write_counter(track, uuid);
      }
    }
  }

  void put(std::size_t events) { file_.put(static_cast<std::int64_t>(events)); }

 private:
  void add(const std::function<void(pbf_writer&)>& fill) {
    bytes_.clear();
    pbf_writer whole(bytes_);
    {
      pbf_writer out(whole, kTracePacket);
      out.add_uint32(Packet::kSequence, 1);
      fill(out);
    }
    file_.write(bytes_);
  }

  void describe(std::uint64_t uuid, const std::string& name,
                const std::function<void(pbf_writer&)>& fill) {
    add([&](pbf_writer& out) {
      pbf_writer track(out, Packet::kTrackDescriptor);
      track.add_uint64(Descriptor::kUuid, uuid);
      track.add_string(Descriptor::kName, name);
      fill(track);
    });
  }

  void write_slices(const timeline::Track& track, std::int32_t pid) {
    const std::uint64_t uuid = ++last_uuid_;
    describe(uuid, track.name, [&](pbf_writer& out) {
      pbf_writer body(out, Descriptor::kThread);
      body.add_int32(Descriptor::kThreadPid, pid);
      // No thread has its process's number: it would be taken for the main one.
      body.add_int32(Descriptor::kThreadTid, static_cast<std::int32_t>(1'000'000 + uuid));
      body.add_string(Descriptor::kThreadName, track.name);
    });
    timeline::walk(
        track.slices, [&](const timeline::Slice& slice) { write_begin(slice, uuid); },
        [&](const timeline::Slice& slice) { write_end(slice, uuid); });
  }

  void stamp(pbf_writer& out, std::int64_t time_ns) {
    out.add_uint64(Packet::kTimestamp, static_cast<std::uint64_t>(time_ns));
    out.add_uint32(Packet::kSequenceFlags, Packet::kNeedsState);
  }

  static void intern(pbf_writer& data, Tag field, std::uint64_t number, const std::string& name) {
    pbf_writer entry(data, field);
    entry.add_uint64(InternedData::kNumber, number);
    entry.add_string(InternedData::kName, name);
  }

  void write_begin(const timeline::Slice& slice, std::uint64_t uuid) {
    add([&](pbf_writer& out) {
      stamp(out, slice.start_ns);
      const Names::Entry name = event_names_.number_of(slice.name);
      {
        // One for all: of a field that is not repeated, readers keep the last.
        pbf_writer data(out, Packet::kInternedData);
        if (name.is_new) intern(data, InternedData::kEventNames, name.number, slice.name);
        for (const timeline::Argument& each : slice.arguments) {
          const Names::Entry key = annotation_names_.number_of(each.name);
          if (key.is_new) intern(data, InternedData::kAnnotationNames, key.number, each.name);
        }
      }
      pbf_writer body(out, Packet::kTrackEvent);
      body.add_enum(Event::kType, Event::kBegin);
      body.add_uint64(Event::kTrack, uuid);
      body.add_uint64(Event::kNameNumber, name.number);
      for (const timeline::Argument& each : slice.arguments) {
        pbf_writer annotation(body, Event::kAnnotations);
        annotation.add_uint64(Event::kAnnotationNameNumber,
                              annotation_names_.number_of(each.name).number);
        annotation.add_int64(Event::kAnnotationInteger, each.value);
      }
    });
  }

  void write_end(const timeline::Slice& slice, std::uint64_t uuid) {
    add([&](pbf_writer& out) {
      stamp(out, slice.end_ns);
      pbf_writer body(out, Packet::kTrackEvent);
      body.add_enum(Event::kType, Event::kEnd);
      body.add_uint64(Event::kTrack, uuid);
    });
  }

  void write_counter(const timeline::Track& track, std::uint64_t process) {
    const std::uint64_t uuid = ++last_uuid_;
    describe(uuid, track.name, [&](pbf_writer& out) {
      out.add_uint64(Descriptor::kParent, process);
      pbf_writer counter(out, Descriptor::kCounter);
      counter.add_string(Descriptor::kCounterUnitName, track.unit);
    });
    for (const timeline::Value& value : track.values) {
      add([&](pbf_writer& out) {
        stamp(out, value.time_ns);
        pbf_writer body(out, Packet::kTrackEvent);
        body.add_enum(Event::kType, Event::kCounterValue);
        body.add_uint64(Event::kTrack, uuid);
        body.add_double(Event::kDoubleValue, value.value);
      });
    }
  }

  result::OutputFile file_;
  std::string bytes_;
  Names event_names_, annotation_names_;
  std::uint64_t last_uuid_ = 0;
  std::uint64_t last_pid_ = 0;
};

}  // namespace

void write_perfetto(result::OutputFolder& folder, const std::string& name,
                    const timeline::Timeline& timeline) {
  PerfettoFile file(folder, name);
  file.begin(timeline.start_ns);
  for (const timeline::Process& process : timeline.processes) file.write(process);
  file.put(timeline.events());
}

}  // namespace tw::exports
