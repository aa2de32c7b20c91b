/** Ids of log events' documents: the same event has the same id however often it is processed. */

import { createHash } from "node:crypto";
import { DAY_MS } from "#proto/kit/units.ts";

/** Bytes of the hash of source and pipeline that an id begins with. */
const HASH_BYTES = 8;

/** 8 bytes hash, 6 bytes offset, 1 byte child. */
const ID_BYTES = 15;

/** From this child on, its number follows in three more bytes. */
const LONG_CHILD = 255;

/** Characters of an id that neither offset nor child have a part in. */
const FIXED_CHARACTERS = 8;

/** Digits of base64url (RFC 4648 §5). */
const DIGITS = Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");

/** Makes the ids of one source's events in one pipeline. */
export class DocumentIds {
  readonly #bytes = Buffer.alloc(ID_BYTES + 3);
  readonly #text: Uint8Array;

  /** `sourceKey`: `<agent id>/<file key>/<generation>`. */
  constructor(sourceKey: string, pipelineId: string) {
    createHash("sha256").update(`${sourceKey}/${pipelineId}`).digest().copy(this.#bytes, 0, 0, HASH_BYTES);
    this.#text = Buffer.from(this.of(0, 0));
  }

  /** The id of an event's first result in ASCII, valid until the next one is asked for. */
  first(offset: number): Uint8Array {
    const hash = this.#bytes;
    const high = Math.floor(offset / 2 ** 32);
    const low = offset >>> 0;
    this.#put(0, (hash[6]! << 16) | (hash[7]! << 8) | (high >>> 8));
    this.#put(4, ((high & 0xff) << 16) | (low >>> 16));
    this.#put(8, (low & 0xffff) << 8);
    return this.#text;
  }

  /** Writes 24 bits as digits. */
  #put(at: number, bits: number): void {
    const text = this.#text;
    text[FIXED_CHARACTERS + at] = DIGITS[bits >>> 18]!;
    text[FIXED_CHARACTERS + at + 1] = DIGITS[(bits >>> 12) & 63]!;
    text[FIXED_CHARACTERS + at + 2] = DIGITS[(bits >>> 6) & 63]!;
    text[FIXED_CHARACTERS + at + 3] = DIGITS[bits & 63]!;
  }

  /** Returns the id, 20 characters of base64url (24 from the 256th child on); `child` counts the results of one event. */
  of(offset: number, child: number): string {
    const bytes = this.#bytes;
    bytes.writeUIntBE(offset, HASH_BYTES, 6);
    if (child < LONG_CHILD) {
      bytes[ID_BYTES - 1] = child;
      return bytes.toString("base64url", 0, ID_BYTES);
    }
    bytes[ID_BYTES - 1] = LONG_CHILD;
    bytes.writeUIntBE(child, ID_BYTES, 3);
    return bytes.toString("base64url", 0, ID_BYTES + 3);
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
