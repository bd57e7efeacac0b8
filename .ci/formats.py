"""What .ci/formats does with a trace and with metrics."""

import collections
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema
from prometheus_client.openmetrics import parser


def trace(file):
    read = schema.Trace()
    with open(file, "rb") as opened:
        read.ParseFromString(opened.read())
    known = schema.Trace()
    known.CopyFrom(read)
    known.DiscardUnknownFields()
    assert known.ByteSize() == read.ByteSize(), "a field that the schema does not have"
    tracks, flows, ends, kinds = {}, set(), set(), collections.Counter()
    for packet in read.packet:
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert not track.HasField("parent_uuid") or track.parent_uuid in tracks, track
            tracks[track.uuid] = track
        if packet.HasField("track_event"):
            event = packet.track_event
            assert event.track_uuid in tracks, event
            kinds[schema.TrackEvent.Type.Name(event.type)] += 1
            flows.update(event.flow_ids)
            ends.update(event.terminating_flow_ids)
    assert kinds["TYPE_SLICE_BEGIN"] == kinds["TYPE_SLICE_END"] > 0, kinds
    assert flows and flows == ends, "an arrow without an end"
    names = " ".join(track.name for track in tracks.values())
    for part in ["nodes ", "node ", "pods ", "waiting: ", "JobSet ", "Job "]:
        assert part in names, f"no track {part!r}"
    counters = [t.name for t in tracks.values() if t.HasField("counter")]
    print(f"ok {file}: {len(read.packet)} packets, {len(tracks)} tracks, {len(flows)} arrows, counters: {', '.join(counters)}")


def scrapes(text):
    """The text of each scrape by its time, as one exposition would have been: the parser forgets buckets of a histogram
    that has several times."""
    times, head = collections.defaultdict(list), []
    for line in text.splitlines():
        if line.startswith("#"):
            head = [line] if line.startswith("# TYPE") else head + [line]
            continue
        own = times[line.rsplit(" ", 1)[1]]
        own += [h for h in head if h not in own] + [line]
    return {at: "\n".join(lines) + "\n# EOF\n" for at, lines in times.items()}


def metrics(file):
    with open(file) as opened:
        text = opened.read()
    assert text.endswith("# EOF\n")
    names, samples, all = set(), 0, scrapes(text)
    for one in all.values():
        for family in parser.text_string_to_metric_families(one):
            names.add(family.name)
            samples += len(family.samples)
            assert all and None not in [sample.timestamp for sample in family.samples]
    told = sum(not line.startswith("#") for line in text.splitlines())
    assert samples == told, f"{samples} samples are read of {told}"
    for name in ["kube_jobset_ready_replicas", "kube_pod_status_phase", "apiserver_request", "workqueue_depth"]:
        assert name in names, f"no family {name}"
    print(f"ok {file}: {len(names)} families, {samples} samples at {len(all)} times")


trace(sys.argv[1])
metrics(sys.argv[2])
