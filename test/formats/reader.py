"""Reads a session's exports with other people's readers, and prints what they find as JSON.

Run it by tools/wheels formats python3.

usage: reader.py FILE.mcap FILE.json
"""

import base64
import json
import sys

from google.protobuf import json_format
from mcap.reader import make_reader
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def topics(file):
    """The messages of each topic; every checksum is looked at, and every schema is one."""
    found = {}
    with open(file, "rb") as f:
        reader = make_reader(f, validate_crcs=True)
        counted = reader.get_summary().statistics.message_count
        for schema, channel, message in reader.iter_messages():
            assert (schema.encoding, channel.message_encoding) == ("jsonschema", "json")
            assert json.loads(schema.data)["type"] == "object"
            found.setdefault(channel.topic, []).append([message.log_time, schema.name, json.loads(message.data)])
    assert counted == sum(map(len, found.values()))
    return found


def spans(file):
    """The spans, read strictly: an unknown field or a wrong type is an error."""
    with open(file) as f:
        document = json.load(f)
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                # OTLP writes ids in hex, where the mapping of protobuf to JSON would have base64.
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    request = json_format.ParseDict(document, ExportTraceServiceRequest())
    found = []
    for span in request.resource_spans[0].scope_spans[0].spans:
        found.append(
            {
                "name": span.name,
                "trace": span.trace_id.hex(),
                "id": span.span_id.hex(),
                "parent": span.parent_span_id.hex(),
                "kind": span.SpanKind.Name(span.kind),
                "status": span.status.StatusCode.Name(span.status.code),
                "start": span.start_time_unix_nano,
                "end": span.end_time_unix_nano,
                "attributes": {
                    a.key: getattr(a.value, a.value.WhichOneof("value") or "", None) for a in span.attributes
                },
                "events": [e.name for e in span.events],
            }
        )
        for key, value in found[-1]["attributes"].items():
            if not isinstance(value, (str, int, float, bool)):
                found[-1]["attributes"][key] = [v.string_value for v in value.values]
    return found


if __name__ == "__main__":
    json.dump({"topics": topics(sys.argv[1]), "spans": spans(sys.argv[2])}, sys.stdout)
