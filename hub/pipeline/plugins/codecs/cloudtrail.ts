/** Codec cloudtrail: the files of AWS CloudTrail, an event for each record (docs.aws.amazon.com, "CloudTrail record contents"). */

import { isIP } from "node:net";
import { MAX_PAYLOAD_EVENTS, shownPayload, unpackPayload } from "#hub/pipeline/formats/gzip-payload.ts";
import { defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { parseEventObject } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event, isHash } from "#proto/event.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { options } from "#proto/kit/options.ts";
import { jsonCodec } from "./json.ts";
import { charsetOption, toUtf8 } from "./plain.ts";

const FAILURE_TAG = "_cloudtrailparsefailure";

/** Where a record names its sender; services write a name there instead of an address. */
const ADDRESSES = ["sourceIPAddress", "sourceIpAddress"];

export const cloudtrailCodec = defineCodec({
  name: "cloudtrail",
  description: "reads files of AWS CloudTrail, packed by gzip or not: an event for each of the Records",
  options: options({ charset: charsetOption }),
  create({ charset }) {
    const utf8 = toUtf8(charset);
    const json = jsonCodec.create({ charset: "UTF-8" });
    return {
      decode(payload, timeMs) {
        const unpacked = unpackPayload(payload);
        const text = decodeText(utf8(unpacked.bytes));
        const events: Event[] = [];
        let fault: string | undefined;
        try {
          for (const record of recordsOf(text)) events.push(new Event(named(record), timeMs));
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          fault = unpacked.fault ?? error.message;
        }
        fault ??= unpacked.fault;
        if (fault === undefined) return events;
        const shown = decodeText(utf8(shownPayload(unpacked.bytes)));
        const failure = new Event({ message: shown, error: { message: fault } }, timeMs);
        failure.tag(FAILURE_TAG);
        return [...events, failure];
      },
      encode: (event) => json.encode(event),
    };
  },
});

/**
 * Yields the records of a file, each parsed by itself: those before damage are kept, and no more than the limit are ever
 * made. Throws RangeError where the rest can't be read.
 */
function* recordsOf(text: string): Generator<JsonObject, void> {
  const head = HEAD.exec(text);
  if (head === null) throw new RangeError("there is no list of Records");
  if (hasManyValues(text)) throw new RangeError(`there are more than ${MAX_NESTED} tables and lists`);
  let count = 0;
  for (let at = head.index + head[0].length; ; ) {
    BETWEEN.lastIndex = at;
    BETWEEN.exec(text);
    at = BETWEEN.lastIndex;
    if (text[at] === "]") return;
    const end = text[at] === "{" ? endOfTable(text, at) : -1;
    if (end < 0) throw new RangeError("the list of Records is damaged or has no end");
    if (++count > MAX_PAYLOAD_EVENTS)
      throw new RangeError(`there are more than ${MAX_PAYLOAD_EVENTS} Records`);
    if (end - at > MAX_RECORD_CHARS)
      throw new RangeError(`a record has more than ${MAX_RECORD_CHARS} letters`);
    const record = parseEventObject(text.slice(at, end));
    if (record === undefined) throw new RangeError("a record isn't JSON");
    yield record;
    at = end;
  }
}

const HEAD = /"Records"\s*:\s*\[/;
const BETWEEN = /[\s,]*/y;
const MARKS = /[{}"]/g;
const STRING_END = /["\\]/g;

/** Tables and lists of a payload at most: each takes some 50 bytes when it is made, and two in the file. */
const MAX_NESTED = 1_000_000;

function hasManyValues(text: string): boolean {
  let count = 0;
  // [ and { differ in a bit.
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & ~0x20) === 0x5b) count++;
  return count > MAX_NESTED;
}

/** Longest record: services write 256 KiB at most. */
const MAX_RECORD_CHARS = 1024 * 1024;

/** Returns the offset after the table that begins at `from`; -1: it has no end. */
function endOfTable(text: string, from: number): number {
  let depth = 0;
  for (let at = from; ; ) {
    MARKS.lastIndex = at;
    const mark = MARKS.exec(text)?.[0];
    at = MARKS.lastIndex;
    if (mark === undefined) return -1;
    if (mark === "{") depth++;
    else if (mark === '"') at = endOfString(text, at);
    else if (--depth === 0) return at;
    if (at < 0) return -1;
  }
}

/** Returns the offset after the string whose letters begin at `from`; -1: it has no end. */
function endOfString(text: string, from: number): number {
  for (let at = from; ; at = STRING_END.lastIndex + 1) {
    STRING_END.lastIndex = at;
    const mark = STRING_END.exec(text)?.[0];
    if (mark === undefined) return -1;
    if (mark === '"') return STRING_END.lastIndex;
  }
}

/** Returns a record's fields, each with one type whatever the service that wrote it. */
function named({ eventTime, ...record }: JsonObject): JsonObject {
  if (eventTime !== undefined) record["@timestamp"] = eventTime;
  for (const name of ADDRESSES) {
    const address = record[name];
    if (typeof address !== "string" || isIP(address) !== 0) continue;
    delete record[name];
    record["sourceHost"] = address;
  }
  const parameters = record["requestParameters"];
  if (isHash(parameters) && Object.hasOwn(parameters, PROTECTION) && !isHash(parameters[PROTECTION]))
    parameters[PROTECTION] = { value: parameters[PROTECTION] };
  return record;
}

/** A parameter that is a flag in one call and a table in another. */
const PROTECTION = "disableApiTermination";
