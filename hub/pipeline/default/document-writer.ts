/**
 * Writes the documents of one RAW message: the line's own members first, then `log`, then the members common to all.
 */

import type { DailyIndex, DocumentIds } from "#hub/pipeline/batch/document-id.ts";
import type { DocumentPacker } from "#hub/pipeline/batch/document-packer.ts";
import { type JsonWriter, MAX_ESCAPED_BYTES, piece } from "#hub/pipeline/batch/json-writer.ts";
import type { CommonFields } from "#hub/pipeline/batch/source-fields.ts";
import { parseJsonObject } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import type { Span } from "#proto/codec/span.ts";
import { IsoWriter, MAX_ISO_MS, MIN_ISO_MS } from "#proto/codec/time.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { mergeLine } from "./json-line.ts";

/** The location of an event, and its outcome. */
export interface EventContext {
  /** Number of the line in the message. */
  readonly number: number;
  readonly offset: number;
  /** Its head was cut off. */
  readonly continued: boolean;
  /** Its tail was cut off, or the file ended without a newline. */
  readonly open: boolean;
  /** A tag of its own, or empty. */
  tag: string;
}

/** Fields that the agent sets instead of the line: laid over the document. */
export interface Overlay {
  readonly fields: JsonObject;
  /** ms since 1970-01-01 UTC. */
  readonly timeMs: number | undefined;
}

const TIME = piece('{"@timestamp":"');
const MESSAGE = piece('","message":"');
const QUOTE_NEXT = piece('",');
const LOG = piece('"log":{');
const OFFSET = piece('"offset":');
/** By 1 × continued + 2 × open. */
const FLAGS = [
  piece(""),
  piece(',"flags":["continued"]'),
  piece(',"flags":["open"]'),
  piece(',"flags":["continued","open"]'),
];
const CLOSE = piece("},");
const TAGS = piece(',"tags":[');
const CLOSE_LIST = piece("]");
const END = piece("}");
const EMPTY = piece("");

/** Space for everything of a document that is neither the line nor common to the message. */
const FIXED_BYTES = 1024;

/** A line's bytes are written at most this often: in the message and in its fields. */
const COPIES = 2;

/** Of a line without recognised parts. */
const PLAIN_FORM = 1;

export class DocumentWriter {
  /** For writers of further members, between `begin` and `end`. */
  readonly json: JsonWriter;
  /** Set while an event is written that brings fields of its own. */
  overlay: Overlay | undefined;
  /**
   * Set after `begin` to a number, below 2^20, that says which members the line's own part has; 0: that isn't known.
   */
  form = 0;
  readonly #out: DocumentPacker;
  readonly #common: CommonFields;
  readonly #commonBytes: number;
  readonly #ids: DocumentIds;
  readonly #index: DailyIndex;
  readonly #iso = new IsoWriter();
  /** What is before each offset, and what ends each document without a tag of its own. */
  readonly #log: Uint8Array;
  readonly #end: Uint8Array;
  #level = "";
  #levelBytes = EMPTY;
  #start = 0;

  constructor(out: DocumentPacker, common: CommonFields, ids: DocumentIds, index: DailyIndex) {
    this.json = out.json;
    this.#out = out;
    this.#common = common;
    this.#commonBytes = common.members.length + common.logFile.length + common.tags.length + FIXED_BYTES;
    this.#ids = ids;
    this.#index = index;
    const { logFile, members, tags } = common;
    this.#log = Buffer.concat([LOG, logFile, OFFSET]);
    this.#end = Buffer.concat([CLOSE, members, ...(tags.length === 0 ? [] : [TAGS, tags, CLOSE_LIST]), END]);
  }

  /** Writes a line without recognised parts but perhaps a level ("": none). */
  plain(
    bytes: Uint8Array,
    start: number,
    end: number,
    timeMs: number,
    level: string,
    place: EventContext,
  ): void {
    this.begin(end - start, timeMs);
    this.form = PLAIN_FORM;
    this.message(bytes, start, end);
    this.end(timeMs, level, "", place);
  }

  /** Starts a document with its time. Reserves space for `lineBytes` escaped twice and all that is common. */
  begin(lineBytes: number, timeMs: number): void {
    const { json } = this;
    this.reserve(lineBytes * COPIES);
    this.form = 0;
    this.#start = json.at;
    json.raw(TIME);
    json.at = this.#iso.write(Math.min(Math.max(timeMs, MIN_ISO_MS), MAX_ISO_MS), json.bytes, json.at);
  }

  /** Starts a document that brings its own `@timestamp`. */
  beginBare(lineBytes: number): void {
    this.reserve(lineBytes * COPIES);
    this.form = 0;
    this.#start = this.json.at;
    this.json.text("{");
  }

  /** Reserves space for `textBytes` escaped and what follows. */
  reserve(textBytes: number): void {
    this.json.reserve(textBytes * MAX_ESCAPED_BYTES + this.#commonBytes);
  }

  /** Ends the time and writes the message. */
  message(bytes: Uint8Array, start: number, end: number): void {
    this.json.raw(MESSAGE);
    this.json.escaped(bytes, start, end);
    this.json.raw(QUOTE_NEXT);
  }

  /** Writes a text member where the span isn't absent: `open`, the text, `close`. */
  member(open: Uint8Array, bytes: Uint8Array, span: Span, close: Uint8Array): void {
    if (span.start < 0) return;
    this.json.raw(open);
    this.json.escaped(bytes, span.start, span.end);
    this.json.raw(close);
  }

  /** Ends the document; `logMembers`: further JSON members of `log` with a leading comma, or empty. */
  end(timeMs: number, level: string, logMembers: string, place: EventContext): void {
    this.#close(level, logMembers, place);
    if (this.form !== 0 && logMembers === "" && this.overlay === undefined)
      this.#out.form =
        16 * this.form + 8 * Number(place.tag !== "") + 4 * Number(level !== "") + flagsOf(place);
    this.#add(timeMs, place);
  }

  /** Ends the document and merges `line` into it. */
  endMerged(timeMs: number, level: string, line: JsonObject, place: EventContext): void {
    this.#close(level, "", place);
    this.#rewrite((document) => mergeLine(document, line));
    this.#add(timeMs, place);
  }

  #close(level: string, logMembers: string, place: EventContext): void {
    const { json } = this;
    if (logMembers !== "") this.reserve(logMembers.length);
    json.raw(this.#log);
    json.integer(place.offset);
    if (level !== "") json.raw(this.#levelMember(level));
    const flags = flagsOf(place);
    if (flags !== 0) json.raw(FLAGS[flags]!);
    if (logMembers !== "") json.text(logMembers);
    if (place.tag === "") json.raw(this.#end);
    else this.#endTagged(place.tag);
  }

  /** Ends a document that has a tag of its own. */
  #endTagged(tag: string): void {
    const { json } = this;
    const { members, tags } = this.#common;
    json.raw(CLOSE);
    json.raw(members);
    json.raw(TAGS);
    json.raw(tags);
    json.text(`${tags.length > 0 ? "," : ""}"${tag}"`);
    json.raw(CLOSE_LIST);
    json.raw(END);
  }

  /** The member of a level; that of the level asked last is kept. */
  #levelMember(level: string): Uint8Array {
    if (level !== this.#level) {
      this.#level = level;
      this.#levelBytes = piece(`,"level":"${level.replace(/[^a-z0-9_.-]/g, "_")}"`);
    }
    return this.#levelBytes;
  }

  #add(timeMs: number, place: EventContext): void {
    const { overlay } = this;
    const eventTimeMs = overlay?.timeMs ?? timeMs;
    if (overlay !== undefined) {
      const time = new Date(eventTimeMs).toISOString();
      this.#rewrite((document) => mergeLine({ ...document, "@timestamp": time }, overlay.fields));
    }
    const { number, offset } = place;
    this.#out.add(this.#index.of(eventTimeMs), this.#ids.of(offset, 0), number, offset, eventTimeMs);
  }

  /** Replaces the document written last. */
  #rewrite(change: (document: JsonObject) => JsonObject): void {
    const { json } = this;
    const document = parseJsonObject(decodeText(json.bytes.subarray(this.#start, json.at)));
    if (document === undefined) throw new Error("a document was written that isn't JSON");
    json.at = this.#start;
    json.text(JSON.stringify(change(document)));
  }
}

/** Index in FLAGS. */
function flagsOf({ continued, open }: EventContext): number {
  return (continued ? 1 : 0) + (open ? 2 : 0);
}
