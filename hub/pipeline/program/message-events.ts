/** Makes the events of a RAW message: of its lines, or of the events that the agent has cut. */

import { isAscii } from "node:buffer";
import type { PackCounts } from "#hub/pipeline/batch/document-packer.ts";
import type { Line } from "#hub/pipeline/batch/event-json.ts";
import type { RawMessage } from "#hub/pipeline/batch/raw-message.ts";
import type { CommonFields } from "#hub/pipeline/batch/source-fields.ts";
import { parseEventObject } from "#proto/codec/json.ts";
import { LineCutter } from "#proto/codec/lines.ts";
import { decodeText, INVALID_UTF8_TAG, toValidUtf8 } from "#proto/codec/plain.ts";
import { copyValue, Event, isHash } from "#proto/event.ts";
import { besideSource } from "#proto/event-members.ts";
import { type JsonObject, setMember } from "#proto/kit/json.ts";

/** Takes an event, its number in the message, its offset in the source, and the line it was read from, until it returns. */
type TakeEvent = (event: Event, number: number, offset: number, line?: Line) => void;

/** Gives `take` the events within the ranges of `message`, in their order; `counts` gets what happened to its lines. */
export function takeEvents(
  message: RawMessage,
  common: CommonFields,
  counts: PackCounts,
  take: TakeEvent,
): void {
  if (message.events.length > 0) takeCutEvents(message, common, counts, take);
  else takeLines(message, common, counts, take);
}

function takeLines(message: RawMessage, common: CommonFields, counts: PackCounts, take: TakeEvent): void {
  const { data, readTimeMs } = message;
  const textOf = textReader(data);
  const line = { text: "", bytes: data, start: 0, end: 0 };
  const lines = new LineCutter(message);
  while (lines.next()) {
    const { index, offset, continued, open } = lines;
    const text = textOf(lines.start, lines.end);
    const log: JsonObject = common.path === "" ? { offset } : { file: { path: common.path }, offset };
    if (continued || open) log["flags"] = [...(continued ? ["continued"] : []), ...(open ? ["open"] : [])];
    const isFaulty = text === undefined;
    const fields: JsonObject = {
      ...common.object,
      message: text ?? decodeText(data.subarray(lines.start, lines.end)),
      log,
    };
    addTags(fields, common, isFaulty, counts);
    line.text = text ?? "";
    line.start = lines.start;
    line.end = lines.end;
    take(new Event(fields, readTimeMs, common.object), index, offset, isFaulty ? undefined : line);
  }
  counts.emptyLines += lines.emptyLines;
  counts.nulBytes += lines.nulBytes;
}

/** Returns a reader of the text of a part of `data`; it returns undefined if that isn't UTF-8. */
function textReader(data: Uint8Array): (start: number, end: number) => string | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  // Fast path: nearly all logs are ASCII.
  if (isAscii(bytes)) return (start, end) => bytes.toString("latin1", start, end);
  return (start, end) => {
    const part = bytes.subarray(start, end);
    return toValidUtf8(part) === part ? decodeText(part) : undefined;
  };
}

function takeCutEvents(message: RawMessage, common: CommonFields, counts: PackCounts, take: TakeEvent): void {
  const { events, ranges, path, pipelineId, readTimeMs } = message;
  for (const [number, { offset: place, message: text, fieldsJson, timeMs }] of events.entries()) {
    const offset = place ?? 0;
    if (!ranges.some(([from, to]) => offset >= from && offset < to)) continue;
    const bytes = text ?? new Uint8Array();
    const valid = toValidUtf8(bytes);
    const own = fieldsJson?.length ? parseEventObject(decodeText(fieldsJson)) : undefined;
    const fields: JsonObject = { ...common.object };
    if (bytes.length > 0) fields["message"] = decodeText(valid);
    if (path !== "") fields["log"] = { file: { path }, offset };
    else if (pipelineId === "") fields["log"] = { offset };
    addTags(fields, common, valid !== bytes, counts);
    const merged =
      own === undefined
        ? fields
        : mergeFields(copyValue(fields) as JsonObject, besideSource(own, common.object));
    take(new Event(merged, timeMs ? timeMs : readTimeMs, common.object), number, offset);
  }
}

function addTags(fields: JsonObject, { tagList }: CommonFields, isFaulty: boolean, counts: PackCounts): void {
  if (isFaulty) counts.invalidUtf8++;
  if (isFaulty || tagList.length > 0)
    fields["tags"] = isFaulty ? [...tagList, INVALID_UTF8_TAG] : [...tagList];
}

/** Merges an event's own fields into those of its source: objects member by member, tags joined, else its own win. */
function mergeFields(into: JsonObject, own: JsonObject): JsonObject {
  for (const [name, value] of Object.entries(own)) {
    const before = into[name];
    if (name === "tags" && Array.isArray(before) && Array.isArray(value)) {
      into[name] = [...new Set([...before, ...value])];
    } else if (isHash(before) && isHash(value)) {
      mergeFields(before, value);
    } else {
      setMember(into, name, value);
    }
  }
  return into;
}
