/** Messages of OpenTelemetry's logs (OTLP 1.x) in protobuf. */

import "#proto/no-long.ts"; // protobufjs is one for the whole process
import protobuf from "protobufjs";

/** The part of opentelemetry/proto/logs/v1 that is read and written; numbers are those of the specification. */
const SCHEMA = `
syntax = "proto3";
message Request { repeated ResourceLogs resourceLogs = 1; }
message ResourceLogs { Resource resource = 1; repeated ScopeLogs scopeLogs = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeLogs { Scope scope = 1; repeated LogRecord logRecords = 2; }
message Scope { string name = 1; string version = 2; repeated KeyValue attributes = 3; }
message LogRecord {
  fixed64 timeUnixNano = 1; int32 severityNumber = 2; string severityText = 3; AnyValue body = 5;
  repeated KeyValue attributes = 6; bytes traceId = 9; bytes spanId = 10; fixed64 observedTimeUnixNano = 11;
  string eventName = 12;
}
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
  oneof value {
    string stringValue = 1; bool boolValue = 2; int64 intValue = 3; double doubleValue = 4;
    ArrayValue arrayValue = 5; KeyValueList kvlistValue = 6; bytes bytesValue = 7;
  }
}
message Response { PartialSuccess partialSuccess = 1; }
message PartialSuccess { int64 rejectedLogRecords = 1; string errorMessage = 2; }
message ArrayValue { repeated AnyValue values = 1; }
message KeyValueList { repeated KeyValue values = 1; }
`;

const { root: ROOT } = protobuf.parse(SCHEMA, { keepCase: true });

/** A request of the service `LogsService`. */
export const OTLP_LOGS = ROOT.lookupType("Request");

/** The answer to it. */
export const OTLP_LOGS_ANSWER = ROOT.lookupType("Response");
