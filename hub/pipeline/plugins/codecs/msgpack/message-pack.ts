/** MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md): values to bytes and back. */

import type { JsonObject } from "#proto/kit/json.ts";

/** Values within values. */
const MAX_DEPTH = 64;

/** Type of the timestamp extension. */
const TIMESTAMP_TYPE = 0xff;

/** Yields the values that stand one behind the other. Throws RangeError for what is cut off or too deep. */
export function* readMessagePack(bytes: Uint8Array): Generator<unknown> {
  const reader = new Reader(bytes);
  while (!reader.atEnd) yield reader.value(0);
}

/** Returns a JSON value as MessagePack. */
export function writeMessagePack(value: unknown): Uint8Array {
  const parts: Uint8Array[] = [];
  write(value, parts);
  return Buffer.concat(parts);
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  value(depth: number): unknown {
    if (depth > MAX_DEPTH) throw new RangeError("values within values are too deep");
    const type = this.#uint(1);
    if (type <= 0x7f) return type;
    if (type >= 0xe0) return type - 0x100;
    if (type <= 0x8f) return this.#map(type & 0x0f, depth);
    if (type <= 0x9f) return this.#list(type & 0x0f, depth);
    if (type <= 0xbf) return this.#text(type & 0x1f);
    return this.#sized(type, depth);
  }

  #sized(type: number, depth: number): unknown {
    switch (type) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#text(this.#uint(1 << (type - 0xc4)));
      case 0xc7:
      case 0xc8:
      case 0xc9:
        return this.#extension(this.#uint(1 << (type - 0xc7)));
      case 0xca:
        return this.#take(4).readFloatBE();
      case 0xcb:
        return this.#take(8).readDoubleBE();
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#uint(1 << (type - 0xcc));
      case 0xcf:
        return plainInteger(this.#take(8).readBigUInt64BE());
      case 0xd0:
      case 0xd1:
      case 0xd2: {
        const size = 1 << (type - 0xd0);
        return this.#take(size).readIntBE(0, size);
      }
      case 0xd3:
        return plainInteger(this.#take(8).readBigInt64BE());
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#uint(1 << (type - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.#list(this.#uint(type === 0xdc ? 2 : 4), depth);
      case 0xde:
      case 0xdf:
        return this.#map(this.#uint(type === 0xde ? 2 : 4), depth);
      default:
        if (type >= 0xd4 && type <= 0xd8) return this.#extension(1 << (type - 0xd4));
        throw new RangeError(`0x${type.toString(16)} is no type`);
    }
  }

  #take(size: number): Buffer {
    const end = this.#at + size;
    if (end > this.#bytes.length) throw new RangeError("the value is cut off");
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  #uint(size: number): number {
    return this.#take(size).readUIntBE(0, size);
  }

  #text(size: number): string {
    return this.#take(size).toString();
  }

  #list(size: number, depth: number): unknown[] {
    const items: unknown[] = [];
    for (let index = 0; index < size; index++) items.push(this.value(depth + 1));
    return items;
  }

  #map(size: number, depth: number): JsonObject {
    const entries: [string, unknown][] = [];
    for (let index = 0; index < size; index++)
      entries.push([String(this.value(depth + 1)), this.value(depth + 1)]);
    return Object.fromEntries(entries);
  }

  /** A timestamp becomes its ISO 8601 form, any other extension its bytes in base64. */
  #extension(size: number): unknown {
    const type = this.#uint(1);
    const data = this.#take(size);
    if (type !== TIMESTAMP_TYPE) return data.toString("base64");
    if (size === 4) return isoTime(data.readUInt32BE() * 1000);
    if (size === 8) {
      const both = data.readBigUInt64BE();
      return isoTime(Number(both & 0x3ffffffffn) * 1000 + Number(both >> 34n) / 1e6);
    }
    return isoTime(Number(data.readBigInt64BE(4)) * 1000 + data.readUInt32BE() / 1e6);
  }
}

function isoTime(timeMs: number): string {
  const time = new Date(timeMs);
  return Number.isNaN(time.getTime()) ? String(timeMs) : time.toISOString();
}

/** What a number can't hold exactly becomes text. */
function plainInteger(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

function write(value: unknown, parts: Uint8Array[]): void {
  if (value === null || value === undefined) parts.push(Buffer.from([0xc0]));
  else if (typeof value === "boolean") parts.push(Buffer.from([value ? 0xc3 : 0xc2]));
  else if (typeof value === "number") parts.push(writeNumber(value));
  else if (typeof value === "string") {
    const bytes = Buffer.from(value);
    parts.push(head(bytes.length, 0xa0, 31, [0xd9, 0xda, 0xdb]), bytes);
  } else if (Array.isArray(value)) {
    parts.push(head(value.length, 0x90, 15, [0, 0xdc, 0xdd]));
    for (const item of value) write(item, parts);
  } else {
    const entries = Object.entries(value);
    parts.push(head(entries.length, 0x80, 15, [0, 0xde, 0xdf]));
    for (const [key, item] of entries) {
      write(key, parts);
      write(item, parts);
    }
  }
}

function writeNumber(value: number): Uint8Array {
  if (!Number.isInteger(value) || value > 0xffffffff || value < -0x80000000) {
    const bytes = Buffer.alloc(9);
    bytes[0] = 0xcb;
    bytes.writeDoubleBE(value, 1);
    return bytes;
  }
  if (value >= 0 && value <= 0x7f) return Buffer.from([value]);
  if (value < 0 && value >= -32) return Buffer.from([value + 0x100]);
  const bytes = Buffer.alloc(5);
  bytes[0] = value < 0 ? 0xd2 : 0xce;
  if (value < 0) bytes.writeInt32BE(value, 1);
  else bytes.writeUInt32BE(value, 1);
  return bytes;
}

/** The head of a value with a size; `types` are those of sizes in 1, 2 and 4 bytes, 0 for none. */
function head(
  size: number,
  short: number,
  shortMax: number,
  types: readonly [number, number, number],
): Uint8Array {
  if (size <= shortMax) return Buffer.from([short | size]);
  if (size <= 0xff && types[0] !== 0) return Buffer.from([types[0], size]);
  if (size <= 0xffff) return Buffer.from([types[1], size >> 8, size & 0xff]);
  const bytes = Buffer.alloc(5);
  bytes[0] = types[2];
  bytes.writeUInt32BE(size, 1);
  return bytes;
}
