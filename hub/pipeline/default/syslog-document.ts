/** A line of syslog as a document (ECS process, log.syslog). The message is what follows the tag; the rest stands in fields. */

import { piece } from "#hub/pipeline/batch/json-writer.ts";
import type { Span } from "#proto/codec/access-log.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { parseStructuredData, SEVERITY_LEVELS, type SyslogLine } from "#proto/codec/syslog.ts";
import type { DocumentWriter, EventPlace } from "./document-writer.ts";

const NEXT = piece(",");
const QUOTE = piece('"');
const CLOSE = piece("},");
const PROCESS = piece('"process":{');
const NAME = piece('"name":"');
const PID = piece('"pid":');

/** Writes the document of `line`, which was read from `lineBytes` of `bytes`; `readTimeMs` stands in for a missing time. */
export function writeSyslog(
  writer: DocumentWriter,
  bytes: Uint8Array,
  lineBytes: number,
  line: SyslogLine,
  readTimeMs: number,
  place: EventPlace,
): void {
  const timeMs = Number.isNaN(line.timeMs) ? readTimeMs : line.timeMs;
  writer.begin(lineBytes, timeMs);
  writer.message(bytes, line.message.start, line.message.end);
  writeProcess(writer, bytes, line);
  const level = line.priority < 0 ? "" : SEVERITY_LEVELS[line.priority & 7]!;
  writer.end(timeMs, level, `,"syslog":${syslogMember(bytes, line)}`, place);
}

function writeProcess(writer: DocumentWriter, bytes: Uint8Array, line: SyslogLine): void {
  if (line.process.start < 0 && line.pid.start < 0) return;
  const { json } = writer;
  json.raw(PROCESS);
  writer.member(NAME, bytes, line.process, QUOTE);
  if (line.pid.start >= 0) {
    if (line.process.start >= 0) json.raw(NEXT);
    json.raw(PID);
    json.copy(bytes, line.pid.start, line.pid.end);
  }
  json.raw(CLOSE);
}

function syslogMember(bytes: Uint8Array, line: SyslogLine): string {
  const text = (span: Span): string | undefined =>
    span.start < 0 ? undefined : decodeText(bytes.subarray(span.start, span.end));
  const hostname = text(line.host);
  if (line.priority < 0) return JSON.stringify({ hostname });
  const data = text(line.structuredData);
  return JSON.stringify({
    priority: line.priority,
    facility: { code: line.priority >> 3 },
    severity: { code: line.priority & 7 },
    version: line.isRfc5424 ? "1" : undefined,
    hostname,
    msgid: text(line.messageId),
    structured_data: data === undefined ? undefined : parseStructuredData(data),
  });
}
