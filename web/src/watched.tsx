// SPDX-License-Identifier: Apache-2.0
// What was seen of a job from outside while it ran (`trainwire watch`): what TCP knew of its connections, and what its devices
// carried.

import { at, list, num, type Run, str } from "./data";
import { show } from "./format";
import { Section } from "./parts";
import { type Cell, columns, TableView } from "./table";

export const isWatched = (run: Run): boolean => num(run.summary, "watched", "seconds") !== null;

/** Of a time that is there. */
const share = (part: number | null, whole: number | null): number | null => (part !== null && whole ? part / whole : null);

export function Watched(props: { run: Run }) {
  const watched = at(props.run.summary, "watched");
  const seconds = num(watched, "seconds");
  const packets = str(watched, "packets");
  const counters = Object.entries(at(watched, "rdma_counters") ?? {}).map(([name, grown]): Cell[] => [name, num(grown)]);
  return (
    <Section id="watched" title="Watched" lead={`Process ${num(watched, "process")} and those it has started, for ${show("time", seconds)}${packets ? `; ${packets}` : ""}. A way is all connections between two addresses; it is busy while there is something to send.`}>
      <div class="card">
        <TableView
          caption="Ways"
          table={{
            columns: columns("from|to|connections:count|sent:bytes|received:bytes|segments sent again:count|round trip:time|shortest:time|busy:share|of it, peer full:share|own buffer full:share"),
            rows: list(watched, "ways").map((each): Cell[] => [
              str(each, "local"),
              str(each, "remote"),
              num(each, "connections"),
              num(each, "sent_bytes"),
              num(each, "received_bytes"),
              num(each, "sent_again"),
              num(each, "round_trip_s"),
              num(each, "least_round_trip_s"),
              share(num(each, "busy_s"), seconds),
              share(num(each, "peer_limited_s"), num(each, "busy_s")),
              share(num(each, "buffer_limited_s"), num(each, "busy_s")),
            ]),
          }}
        />
        <TableView
          caption="Devices"
          table={{
            columns: columns("device|sent:bytes|received:bytes|peak sent:rate|its rate:rate|dropped packets:count|errors:count"),
            rows: list(watched, "devices").map((each): Cell[] => [
              str(each, "name"),
              num(each, "sent_bytes"),
              num(each, "received_bytes"),
              num(each, "peak_sent_bps"),
              num(each, "rate_bps"),
              num(each, "dropped_packets"),
              num(each, "errors"),
            ]),
          }}
        />
        {counters.length > 0 && <TableView caption="Counters of RDMA cards" table={{ columns: columns("counter|grew by:count"), rows: counters }} />}
      </div>
    </Section>
  );
}
