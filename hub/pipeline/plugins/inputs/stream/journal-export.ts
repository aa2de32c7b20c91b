/** Entries in the Journal Export Format (systemd.io/JOURNAL_EXPORT_FORMATS), parsed incrementally. */

import { decodeText } from "#proto/codec/plain.ts";
import { addPart, KeptBytes } from "#proto/kit/byte-parts.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** What is kept of a field, bytes; the rest of a longer one, such as a core dump, is read past. */
export const MAX_FIELD_BYTES = 1024 * 1024;

/** Fields kept of an entry, and their bytes. The journal's own limit is 1,024 fields. */
const MAX_FIELDS = 1_024;
const MAX_ENTRY_BYTES = 4 * 1024 * 1024;

/** The journal's limit of a field's name. */
const MAX_NAME_BYTES = 64;
/** Longest line: a name, "=" and a value. */
const MAX_LINE_BYTES = MAX_FIELD_BYTES + MAX_NAME_BYTES + 1;

const NAME = /^[A-Z0-9_]+$/;
const LF = 0x0a;
const EQUALS = 0x3d;
const SIZE_BYTES = 8;

/** An entry, and whether a field of it was cut or left out. */
export interface ExportedEntry {
  /** As `journalctl -o json` names them; a field that occurs several times is an array. */
  readonly fields: JsonObject;
  readonly isCut: boolean;
}

/** A value with its length before it, of which bytes are still to come. */
interface SizedValue {
  readonly name: string;
  readonly parts: Uint8Array[];
  kept: number;
  left: number;
}

/** Reads one stream of entries. */
export class JournalExportReader {
  readonly #rest = new KeptBytes();
  /** The rest is the beginning of a line: it isn't parsed again before that ends, or is too long. */
  #awaitsLine = false;
  #fields: JsonObject = {};
  #count = 0;
  #bytes = 0;
  #isCut = false;
  #value: SizedValue | undefined;
  /** The line under way is longer than a field may be, and what follows of it is left out. */
  #isSkippingLine = false;

  /** Bytes that are kept of the entry that isn't whole. */
  get pendingBytes(): number {
    return this.#rest.length + Math.min(this.#bytes, MAX_ENTRY_BYTES) + (this.#value?.kept ?? 0);
  }

  /** Takes a chunk; returns the entries that it completed. Throws parsing for what is not of the format. */
  push(chunk: Buffer): ExportedEntry[] {
    if (this.#awaitsLine && this.#rest.length + chunk.length <= MAX_LINE_BYTES && !chunk.includes(LF)) {
      this.#rest.keep(chunk);
      return [];
    }
    const bytes = this.#rest.take(chunk);
    const entries: ExportedEntry[] = [];
    this.#awaitsLine = false;
    let at = 0;
    for (;;) {
      const next = this.#value === undefined ? this.#line(bytes, at, entries) : this.#sized(bytes, at);
      if (next === at) break;
      at = next;
    }
    if (at < bytes.length) this.#rest.keep(bytes.subarray(at));
    return entries;
  }

  /** Returns the last entry, which no blank line ends. Throws parsing if the stream ends within a field. */
  end(): ExportedEntry | undefined {
    if (this.#rest.length > 0 || this.#value !== undefined) throw wrong("the stream ends within a field");
    return this.#count === 0 ? undefined : this.#take();
  }

  /** Reads one line; returns where the next begins, or `at` where more bytes are needed. */
  #line(bytes: Buffer, at: number, entries: ExportedEntry[]): number {
    const end = bytes.indexOf(LF, at);
    if (end < 0) return this.#longLine(bytes, at);
    if (this.#isSkippingLine) {
      this.#isSkippingLine = false;
      return end + 1;
    }
    if (end === at) {
      if (this.#count > 0) entries.push(this.#take());
      return end + 1;
    }
    const line = bytes.subarray(at, end);
    const equals = line.indexOf(EQUALS);
    if (equals > 0) {
      this.#put(nameOf(line.subarray(0, equals)), line.subarray(equals + 1));
      return end + 1;
    }
    if (bytes.length < end + 1 + SIZE_BYTES) return at;
    const left = Number(bytes.readBigUInt64LE(end + 1));
    this.#value = { name: nameOf(line), parts: [], kept: 0, left };
    return end + 1 + SIZE_BYTES;
  }

  /** Cuts a line that is longer than a field may be. */
  #longLine(bytes: Buffer, at: number): number {
    if (this.#isSkippingLine) return bytes.length;
    if (bytes.length - at <= MAX_LINE_BYTES) {
      this.#awaitsLine = true;
      return at;
    }
    const equals = bytes.indexOf(EQUALS, at);
    if (equals < 0) throw wrong("a name is too long");
    this.#put(nameOf(bytes.subarray(at, equals)), bytes.subarray(equals + 1));
    this.#isSkippingLine = true;
    return bytes.length;
  }

  /** Reads bytes of a value with its length before it. */
  #sized(bytes: Buffer, at: number): number {
    const value = this.#value!;
    const taken = Math.min(value.left, bytes.length - at);
    const kept = Math.min(taken, MAX_FIELD_BYTES + 1 - value.kept);
    if (kept > 0) addPart(value.parts, Buffer.from(bytes.subarray(at, at + kept)));
    value.kept += Math.max(kept, 0);
    value.left -= taken;
    const end = at + taken;
    if (value.left > 0 || end >= bytes.length) return end;
    if (bytes[end] !== LF) throw wrong(`the value of ${value.name} is longer than its length says`);
    this.#put(value.name, Buffer.concat(value.parts));
    this.#value = undefined;
    return end + 1;
  }

  #put(name: string, value: Buffer): void {
    const kept = value.subarray(0, MAX_FIELD_BYTES);
    if (kept.length < value.length) this.#isCut = true;
    this.#count++;
    this.#bytes += kept.length;
    if (this.#count > MAX_FIELDS || this.#bytes > MAX_ENTRY_BYTES) {
      this.#isCut = true;
      return;
    }
    const text = decodeText(kept);
    const before = this.#fields[name];
    this.#fields[name] =
      before === undefined ? text : Array.isArray(before) ? [...before, text] : [before, text];
  }

  #take(): ExportedEntry {
    const entry = { fields: this.#fields, isCut: this.#isCut };
    this.#fields = {};
    this.#count = 0;
    this.#bytes = 0;
    this.#isCut = false;
    return entry;
  }
}

function nameOf(bytes: Buffer): string {
  const name = bytes.toString("latin1", 0, MAX_NAME_BYTES + 1);
  if (name.length > MAX_NAME_BYTES || !NAME.test(name))
    throw wrong(`"${name}" isn't a name of a journal's field`);
  return name;
}

function wrong(what: string): AppError {
  return new AppError("parsing", `the body isn't in the Journal Export Format: ${what}`);
}
