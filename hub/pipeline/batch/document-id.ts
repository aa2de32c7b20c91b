/** Ids of log events' documents: the same event has the same id however often it is processed. */

import { createHash } from "node:crypto";
import { DAY_MS } from "#proto/kit/units.ts";

/** Bytes of the hash of source and pipeline that an id begins with; offset and child have no part in the digits of the first six. */
const HASH_BYTES = 8;
const FIXED_BYTES = 6;
const FIXED_CHARACTERS = 8;

/** Characters of an id: of 8 bytes hash, 6 bytes offset, 1 byte child. */
const CHARACTERS = 20;

/** From this child on, its number follows in three more bytes, four characters. */
const LONG_CHILD = 255;
const LONG_CHARACTERS = 24;

/** Digits of base64url (RFC 4648 §5). */
const DIGITS = Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");

/** Makes the ids of one source's events in one pipeline. */
export class DocumentIds {
  readonly #long = Buffer.alloc(LONG_CHARACTERS);
  readonly #usual = this.#long.subarray(0, CHARACTERS);
  /** The last two bytes of the hash, above one byte of the offset. */
  readonly #hashEnd: number;

  /** `sourceKey`: `<agent id>/<file key>/<generation>`. */
  constructor(sourceKey: string, pipelineId: string) {
    const hash = createHash("sha256").update(`${sourceKey}/${pipelineId}`).digest();
    this.#long.write(hash.toString("base64url", 0, FIXED_BYTES));
    this.#hashEnd = hash.readUIntBE(FIXED_BYTES, HASH_BYTES - FIXED_BYTES) << 8;
  }

  /**
   * Returns an id, 20 characters of base64url in ASCII (24 from the 256th child on), valid until the next one is asked for.
   * `child` counts the results of one event.
   */
  of(offset: number, child: number): Buffer {
    const high = Math.floor(offset / 2 ** 32);
    const low = offset >>> 0;
    this.#put(0, this.#hashEnd | (high >>> 8));
    this.#put(4, ((high & 0xff) << 16) | (low >>> 16));
    this.#put(8, ((low & 0xffff) << 8) | Math.min(child, LONG_CHILD));
    if (child < LONG_CHILD) return this.#usual;
    this.#put(12, child);
    return this.#long;
  }

  /** Writes 24 bits as digits. */
  #put(at: number, bits: number): void {
    const text = this.#long;
    text[FIXED_CHARACTERS + at] = DIGITS[bits >>> 18]!;
    text[FIXED_CHARACTERS + at + 1] = DIGITS[(bits >>> 12) & 63]!;
    text[FIXED_CHARACTERS + at + 2] = DIGITS[(bits >>> 6) & 63]!;
    text[FIXED_CHARACTERS + at + 3] = DIGITS[bits & 63]!;
  }
}

/** Returns names; that of the day asked last is kept. */
export class DailyIndex {
  readonly #prefix: string;
  #day = Number.NaN;
  #name = "";

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Returns the index of an event at `timeMs` since 1970-01-01 UTC. */
  of(timeMs: number): string {
    const day = Math.floor(timeMs / DAY_MS);
    if (day !== this.#day) {
      this.#name = this.#prefix + new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll("-", ".");
      this.#day = day;
    }
    return this.#name;
  }
}
