/** Documents of the line formats that the default pipeline recognises: access logs, syslog and JSON lines (ECS names). */

import { piece } from "#hub/pipeline/batch/json-writer.ts";
import type { AccessLogLine } from "#proto/codec/access-log.ts";
import { decodeText } from "#proto/codec/plain.ts";
import type { Span } from "#proto/codec/span.ts";
import { parseStructuredData } from "#proto/codec/structured-data.ts";
import { SEVERITY_LEVELS, type SyslogLine } from "#proto/codec/syslog.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { DocumentWriter, EventContext } from "./document-writer.ts";
import { levelOfJson, messageOfJson, needsNoMerge, timeOfJson } from "./json-line.ts";

const NEXT = piece(",");
const QUOTE = piece('"');
const QUOTE_NEXT = piece('",');
const CLOSE = piece("},");
const CLOSE_TWO = piece("}},");
const CLOSE_STRING = piece('"},');
const END = piece("}");
const SOURCE = piece('"source":{"address":"');
const USER = piece('"user":{"name":"');
const HTTP = piece('"http":{');
const VERSION = piece('"version":"');
const REQUEST = piece('"request":{');
const METHOD = piece('"method":"');
const REFERRER = piece('"referrer":"');
const RESPONSE = piece('"response":{"status_code":');
const BODY = piece(',"body":{"bytes":');
const URL = piece('"url":{');
const ORIGINAL = piece('"original":"');
const DOMAIN = piece('"domain":"');
const AGENT = piece('"user_agent":{"original":"');

/** Separate from that of other lines. */
const ACCESS_FORM = 1 << 12;

/** Writes the document of `line`, which was read from `bytes` between `start` and `end`. */
export function writeAccess(
  writer: DocumentWriter,
  bytes: Uint8Array,
  start: number,
  end: number,
  line: AccessLogLine,
  place: EventContext,
): void {
  writer.begin(end - start, line.timeMs);
  writer.form = formOf(line);
  writer.message(bytes, start, end);
  writer.member(SOURCE, bytes, line.client, CLOSE_STRING);
  writer.member(USER, bytes, line.user, CLOSE_STRING);
  writeHttp(writer, bytes, line);
  writeUrl(writer, bytes, line);
  writer.member(AGENT, bytes, line.userAgent, CLOSE_STRING);
  writer.end(line.timeMs, "", "", place);
}

/** See DocumentWriter.form: what a line of this format may lack. */
function formOf(line: AccessLogLine): number {
  const { client, user, httpVersion, method, referrer, bodyBytes, url, host, userAgent } = line;
  let form = ACCESS_FORM;
  if (client.start >= 0) form |= 1;
  if (user.start >= 0) form |= 2;
  if (httpVersion.start >= 0) form |= 4;
  if (method.start >= 0) form |= 8;
  if (referrer.start >= 0) form |= 16;
  if (bodyBytes.start >= 0) form |= 32;
  if (url.start >= 0) form |= 64;
  if (host.start >= 0) form |= 128;
  if (userAgent.start >= 0) form |= 256;
  return form;
}

function writeHttp(writer: DocumentWriter, bytes: Uint8Array, line: AccessLogLine): void {
  const { json } = writer;
  json.raw(HTTP);
  writer.member(VERSION, bytes, line.httpVersion, QUOTE_NEXT);
  if (line.method.start >= 0 || line.referrer.start >= 0) {
    json.raw(REQUEST);
    writer.member(METHOD, bytes, line.method, QUOTE);
    if (line.method.start >= 0 && line.referrer.start >= 0) json.raw(NEXT);
    writer.member(REFERRER, bytes, line.referrer, QUOTE);
    json.raw(CLOSE);
  }
  json.raw(RESPONSE);
  json.copy(bytes, line.status.start, line.status.end);
  if (line.bodyBytes.start >= 0) {
    json.raw(BODY);
    json.copy(bytes, line.bodyBytes.start, line.bodyBytes.end);
    json.raw(END);
  }
  json.raw(CLOSE_TWO);
}

function writeUrl(writer: DocumentWriter, bytes: Uint8Array, line: AccessLogLine): void {
  if (line.url.start < 0 && line.host.start < 0) return;
  const { json } = writer;
  json.raw(URL);
  writer.member(ORIGINAL, bytes, line.url, QUOTE);
  if (line.url.start >= 0 && line.host.start >= 0) json.raw(NEXT);
  writer.member(DOMAIN, bytes, withoutPort(bytes, line.host), QUOTE);
  json.raw(CLOSE);
}

/** Cuts `:80` off. */
function withoutPort(bytes: Uint8Array, host: Span): Span {
  return host.start < 0 ? host : { start: host.start, end: bytes.lastIndexOf(0x3a, host.end - 1) };
}

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
  place: EventContext,
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

const MESSAGE = piece('"message":"');
const ENCODER = new TextEncoder();

/** Writes the document of the line between `start` and `end`, `object` being the same parsed. */
export function writeJson(
  writer: DocumentWriter,
  bytes: Uint8Array,
  start: number,
  end: number,
  object: JsonObject,
  readTimeMs: number,
  place: EventContext,
): void {
  const timeMs = timeOfJson(object) ?? readTimeMs;
  const level = levelOfJson(object) ?? "";
  if (!needsNoMerge(object)) {
    const message = messageOfJson(object);
    const text = message === undefined ? bytes.subarray(start, end) : ENCODER.encode(message);
    writer.begin(text.length, timeMs);
    writer.message(text, 0, text.length);
    writer.endMerged(timeMs, level, object, place);
    return;
  }
  if (Object.hasOwn(object, "@timestamp")) {
    writer.beginBare(end - start);
  } else {
    writer.begin(end - start, timeMs);
    writer.json.raw(QUOTE_NEXT);
  }
  writeMembers(writer, bytes, start + 1, end - 1);
  if (!Object.hasOwn(object, "message")) writeMessage(writer, bytes, start, end, object);
  writer.end(timeMs, level, "", place);
}

/** Copies what is between the braces. */
function writeMembers(writer: DocumentWriter, bytes: Uint8Array, start: number, end: number): void {
  let first = start;
  while (first < end && isJsonSpace(bytes[first]!)) first++;
  if (first === end) return;
  writer.json.raw(bytes.subarray(first, end));
  writer.json.raw(NEXT);
}

/** The text that the line says, or the line itself. */
function writeMessage(
  writer: DocumentWriter,
  bytes: Uint8Array,
  start: number,
  end: number,
  object: JsonObject,
): void {
  const message = messageOfJson(object);
  const text = message === undefined ? bytes : ENCODER.encode(message);
  const [from, to] = message === undefined ? [start, end] : [0, text.length];
  writer.reserve(to - from);
  writer.json.raw(MESSAGE);
  writer.json.escaped(text, from, to);
  writer.json.raw(QUOTE_NEXT);
}

function isJsonSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
