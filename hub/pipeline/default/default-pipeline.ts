/**
 * The pipeline used if none is configured: access logs, JSON lines and syslog lines become fields of the Elastic Common
 * Schema; any other line becomes a message with the time and level at its start, if recognised. Works on bytes: a
 * line's document is written straight from the block.
 */

import { isUtf8 } from "node:buffer";
import { DailyIndex, DocumentIds } from "#hub/pipeline/batch/document-id.ts";
import type { DocumentPacker } from "#hub/pipeline/batch/document-packer.ts";
import type { MessageProcessor, RawMessage } from "#hub/pipeline/batch/raw-message.ts";
import { commonFields } from "#hub/pipeline/batch/source-fields.ts";
import { AccessLogLine } from "#proto/codec/access-log.ts";
import { parseEventJson, parseEventObject } from "#proto/codec/json.ts";
import { LineCutter } from "#proto/codec/lines.ts";
import { decodeText, INVALID_UTF8_TAG, toValidUtf8 } from "#proto/codec/plain.ts";
import { SyslogLine } from "#proto/codec/syslog.ts";
import { IsoTime, LocalTime } from "#proto/codec/time.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { isObject } from "#proto/kit/json.ts";
import type { tailrace } from "#proto/messages.ts";
import { DocumentWriter, type EventContext } from "./document-writer.ts";
import { writeAccess, writeJson, writeSyslog } from "./line-documents.ts";

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Bytes of JSON that a line's document takes beyond the line, for the first size of buffers. */
const DOCUMENT_OVERHEAD_BYTES = 512;

export class DefaultPipeline implements MessageProcessor {
  readonly #id: string;
  readonly #clock: Clock;
  readonly #local = new LocalTime();
  readonly #access = new AccessLogLine();
  readonly #syslog = new SyslogLine(this.#local);
  readonly #iso = new IsoTime(this.#local);
  readonly #index = new DailyIndex("logs-");

  /** `id` goes into the documents' ids. */
  constructor(id: string, clock: Clock) {
    this.#id = id;
    this.#clock = clock;
  }

  process(message: RawMessage, out: DocumentPacker): void {
    const common = commonFields(message, this.#clock.now());
    const writer = new DocumentWriter(out, common, new DocumentIds(message.sourceKey, this.#id), this.#index);
    if (message.events.length > 0) this.#processEvents(message, out, writer);
    else this.#processLines(message, out, writer);
  }

  #processLines(message: RawMessage, out: DocumentPacker, writer: DocumentWriter): void {
    const { data } = message;
    out.json.reserve(data.length * 2 + DOCUMENT_OVERHEAD_BYTES);
    const isValid = isUtf8(data);
    const lines = new LineCutter(message);
    while (lines.next()) {
      out.counts.events++;
      const place: EventContext = {
        number: lines.index,
        offset: lines.offset,
        continued: lines.continued,
        open: lines.open,
        tag: "",
      };
      if (isValid) this.#line(data, lines.start, lines.end, message.readTimeMs, place, writer);
      else this.#doubtfulLine(data.subarray(lines.start, lines.end), message.readTimeMs, place, out, writer);
    }
    out.counts.emptyLines += lines.emptyLines;
    out.counts.nulBytes += lines.nulBytes;
  }

  /** Slow path: a line of a block that isn't UTF-8 throughout. */
  #doubtfulLine(
    bytes: Uint8Array,
    readTimeMs: number,
    place: EventContext,
    out: DocumentPacker,
    writer: DocumentWriter,
  ): void {
    const valid = toValidUtf8(bytes);
    if (valid !== bytes) {
      out.counts.invalidUtf8++;
      place.tag = INVALID_UTF8_TAG;
    }
    this.#line(valid, 0, valid.length, readTimeMs, place, writer);
  }

  /** Events that the agent has cut: as lines, with the agent's time and fields laid over. */
  #processEvents(message: RawMessage, out: DocumentPacker, writer: DocumentWriter): void {
    for (const [number, event] of message.events.entries()) {
      const offset = event.offset ?? 0;
      if (!message.ranges.some(([from, to]) => offset >= from && offset < to)) continue;
      out.counts.events++;
      const place: EventContext = { number, offset, continued: false, open: false, tag: "" };
      this.#event(event, message.readTimeMs, place, out, writer);
    }
  }

  #event(
    event: tailrace.LogEvent.$Properties,
    readTimeMs: number,
    place: EventContext,
    out: DocumentPacker,
    writer: DocumentWriter,
  ): void {
    const fields = event.fieldsJson?.length ? parseEventObject(decodeText(event.fieldsJson)) : undefined;
    const timeMs = event.timeMs ? event.timeMs : undefined;
    writer.overlay =
      fields === undefined && timeMs === undefined ? undefined : { fields: fields ?? {}, timeMs };
    this.#doubtfulLine(event.message ?? new Uint8Array(), timeMs ?? readTimeMs, place, out, writer);
    writer.overlay = undefined;
  }

  /** Recognises a line of valid UTF-8 and writes its document. */
  #line(
    bytes: Uint8Array,
    start: number,
    end: number,
    readTimeMs: number,
    place: EventContext,
    writer: DocumentWriter,
  ): void {
    const isJson = bytes[start] === OPEN_BRACE && bytes[end - 1] === CLOSE_BRACE;
    const value = isJson ? parseEventJson(decodeText(bytes.subarray(start, end))) : undefined;
    const object = isObject(value) ? value : undefined;
    // A part of a split line has lost its head or tail: a format could match by accident.
    if (place.continued) {
      writer.plain(bytes, start, end, readTimeMs, "", place);
    } else if (object !== undefined) {
      writeJson(writer, bytes, start, end, object, readTimeMs, place);
    } else if (this.#access.read(bytes, start, end)) {
      writeAccess(writer, bytes, start, end, this.#access, place);
    } else if (this.#syslog.read(bytes, start, end, readTimeMs)) {
      writeSyslog(writer, bytes, end - start, this.#syslog, readTimeMs, place);
    } else {
      this.#plain(bytes, start, end, readTimeMs, place, writer);
    }
  }

  /** A line of no known format: a leading time (in brackets or not) and a level are taken, the message stays whole. */
  #plain(
    bytes: Uint8Array,
    start: number,
    end: number,
    readTimeMs: number,
    place: EventContext,
    writer: DocumentWriter,
  ): void {
    const at = bytes[start] === 0x5b ? start + 1 : start;
    // SyslogLine.read ran first and has already parsed the time that most lines begin with.
    const { timeEnd } = this.#syslog;
    const iso = this.#iso;
    const isKnown = timeEnd >= 0;
    const hasTime = isKnown || iso.read(bytes, at, end);
    const timeMs = isKnown ? this.#syslog.timeMs : hasTime ? iso.timeMs : readTimeMs;
    const level = levelAt(bytes, isKnown ? timeEnd : hasTime ? iso.end : start, end);
    writer.plain(bytes, start, end, timeMs, level, place);
  }
}

/** Bytes after the time that are searched. */
const WINDOW_BYTES = 64;

const LEVELS = [
  "trace",
  "debug",
  "info",
  "notice",
  "warn",
  "warning",
  "error",
  "err",
  "crit",
  "critical",
  "alert",
  "emerg",
  "emergency",
  "fatal",
  "panic",
  "severe",
];

/** Bits that distinguish the letters of ASCII, the same for both cases. */
const LETTER_BITS = 31;

/** Levels by their first letter's bits. */
const BY_LETTER: readonly (readonly string[])[] = Array.from({ length: LETTER_BITS + 1 }, (_, bits) =>
  LEVELS.filter((level) => (level.charCodeAt(0) & LETTER_BITS) === bits),
);

const MIN_LENGTH = 3;
const MAX_LENGTH = 9;

/**
 * Returns the level in lower case, or "" if none is plain: an upper-case word (`ERROR`), or one in brackets or before a
 * colon (`[error]`, `warning:`).
 */
function levelAt(bytes: Uint8Array, start: number, end: number): string {
  const limit = Math.min(end, start + WINDOW_BYTES);
  for (let at = start; at < limit; at++) {
    if (!isLetter(bytes[at]!)) continue;
    const wordStart = at;
    let isUpper = true;
    for (; at < end && isLetter(bytes[at]!) && at - wordStart <= MAX_LENGTH; at++) {
      isUpper &&= bytes[at]! < 0x61;
    }
    const length = at - wordStart;
    if (length >= MIN_LENGTH && length <= MAX_LENGTH && (isUpper || isMarked(bytes, wordStart, at, end))) {
      const level = levelOf(bytes, wordStart, length);
      if (level !== "") return level;
    }
    while (at < limit && isLetter(bytes[at]!)) at++;
  }
  return "";
}

/** The level that `length` letters spell, "" for none. */
function levelOf(bytes: Uint8Array, start: number, length: number): string {
  for (const level of BY_LETTER[bytes[start]! & LETTER_BITS]!) {
    let same = level.length === length ? 1 : 0;
    while (same > 0 && same < length && ((bytes[start + same]! ^ level.charCodeAt(same)) & LETTER_BITS) === 0)
      same++;
    if (same === length) return level;
  }
  return "";
}

function isMarked(bytes: Uint8Array, start: number, end: number, limit: number): boolean {
  const next = end < limit ? bytes[end] : 0;
  return next === 0x3a || (next === 0x5d && (bytes[start - 1] === 0x5b || bytes[start - 1] === 0x3a));
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}
