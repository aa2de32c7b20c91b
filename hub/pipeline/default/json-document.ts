/** A line that is a JSON object as a document: the line's bytes with Tailrace's members around them. */

import { piece } from "#hub/pipeline/batch/json-writer.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { DocumentWriter, EventPlace } from "./document-writer.ts";
import { levelOfJson, messageOfJson, needsNoMerge, timeOfJson } from "./json-line.ts";

const NEXT = piece(",");
const QUOTE_NEXT = piece('",');
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
  place: EventPlace,
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

/** Copies what stands between the braces. */
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
