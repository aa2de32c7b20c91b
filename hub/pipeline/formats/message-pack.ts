/**
 * Cuts a stream of MessagePack (github.com/msgpack/msgpack, spec.md) into values, before any is created: one byte may
 * encode an object, and five bytes a list of a million items. Writes values.
 */

import { Decoder, type DecoderOptions, Encoder } from "@msgpack/msgpack";
import { decimal, isRawJson, parseEventJson } from "#proto/codec/json.ts";
import { addPart } from "#proto/kit/byte-parts.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Deepest nesting of lists and maps. */
const MAX_DEPTH = 64;

/** Memory that one message may take when it is made, reckoned. Bytes. */
const MAX_COST_BYTES = 256 * 1024 * 1024;
/** What a value takes, twice, as it is copied: a number, a text besides its letters, a list or map besides its members. */
const SCALAR_COST = 32;
const TEXT_COST = 64;
const LIST_COST = 128;
const PLACE_COST = 8;

/** Bytes that follow the first one of types without a length: numbers, and extensions of fixed size. */
const FIXED_BYTES: ReadonlyMap<number, number> = new Map([
  [0xca, 4],
  [0xcb, 8],
  [0xcc, 1],
  [0xcd, 2],
  [0xce, 4],
  [0xcf, 8],
  [0xd0, 1],
  [0xd1, 2],
  [0xd2, 4],
  [0xd3, 8],
  [0xd4, 2],
  [0xd5, 3],
  [0xd6, 5],
  [0xd7, 9],
  [0xd8, 17],
]);

/** Bytes of the length of types that have one. */
const LENGTH_BYTES: ReadonlyMap<number, number> = new Map([
  [0xc4, 1],
  [0xc5, 2],
  [0xc6, 4],
  [0xc7, 1],
  [0xc8, 2],
  [0xc9, 4],
  [0xd9, 1],
  [0xda, 2],
  [0xdb, 4],
  [0xdc, 2],
  [0xdd, 4],
  [0xde, 2],
  [0xdf, 4],
]);

/** Finds where values end. */
class ValueScan {
  /** Reckoned memory of all values since the last `reset`. */
  #costBytes = 0;
  /** Values that are still to come in each list and map that is open. */
  readonly #left: number[] = [];
  /** Bytes of the text or number under way. */
  #skip = 0;
  /** First byte of the value whose length is being read; -1: none. */
  #code = -1;
  #length = 0;
  #lengthBytes = 0;

  /** Returns the offset after the current value; -1 if it continues after `bytes`. Throws parsing. */
  end(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; ) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, bytes.length - at);
        at += skipped;
        this.#skip -= skipped;
        if (this.#skip === 0 && this.#isEnd()) return at;
      } else if (this.#takeByte(bytes[at++]!)) return at;
    }
    return -1;
  }

  reset(): void {
    this.#costBytes = 0;
  }

  /** Takes a byte of a value's head; true if that ends the outermost value. */
  #takeByte(byte: number): boolean {
    if (this.#code < 0) {
      this.#code = byte;
      this.#length = 0;
      this.#lengthBytes = LENGTH_BYTES.get(byte) ?? 0;
    } else {
      this.#length = this.#length * 256 + byte;
      this.#lengthBytes--;
    }
    if (this.#lengthBytes > 0) return false;
    const code = this.#code;
    this.#code = -1;
    return this.#begin(code, this.#length);
  }

  #begin(code: number, length: number): boolean {
    if (code >= 0x80 && code <= 0x8f) return this.#open(2 * (code & 0x0f), 0);
    if (code >= 0x90 && code <= 0x9f) return this.#open(code & 0x0f, PLACE_COST);
    if (code === 0xdc || code === 0xdd) return this.#open(length, PLACE_COST);
    if (code === 0xde || code === 0xdf) return this.#open(2 * length, 0);
    if (code >= 0xa0 && code <= 0xbf) this.#skip = code & 0x1f;
    else if (code >= 0xc7 && code <= 0xc9) this.#skip = length + 1;
    else this.#skip = LENGTH_BYTES.has(code) ? length : (FIXED_BYTES.get(code) ?? 0);
    const isNumber = FIXED_BYTES.has(code) || code < 0x80 || code >= 0xe0;
    this.#charge(isNumber ? SCALAR_COST : TEXT_COST + 2 * this.#skip);
    return this.#skip === 0 && this.#isEnd();
  }

  #open(values: number, placeCost: number): boolean {
    this.#charge(LIST_COST + placeCost * values);
    if (values === 0) return this.#isEnd();
    if (this.#left.length >= MAX_DEPTH) throw new AppError("parsing", "values are nested too deeply");
    this.#left.push(values);
    return false;
  }

  /** A value has ended; true if all that it is in have, too. */
  #isEnd(): boolean {
    const { length } = this.#left;
    if (length === 0) return true;
    if (--this.#left[length - 1]! > 0) return false;
    this.#left.pop();
    return this.#isEnd();
  }

  #charge(bytes: number): void {
    this.#costBytes += bytes;
    if (this.#costBytes > MAX_COST_BYTES)
      throw new AppError(
        "parsing",
        "a message has too many values; configure the sender to send shorter ones",
      );
  }
}

/** Methods of the library's decoder that its types don't publish. */
interface FloatMethods {
  readF32(): unknown;
  readF64(): unknown;
}

/** Returns a decoder whose floats without a fraction stay decimals: the library makes the same number of them as of integers. */
function decimalDecoder(options: DecoderOptions): Decoder<undefined> {
  const decoder = new Decoder(options);
  const methods = decoder as unknown as FloatMethods;
  const readF32 = methods.readF32.bind(methods);
  const readF64 = methods.readF64.bind(methods);
  methods.readF32 = () => decimal(readF32() as number);
  methods.readF64 = () => decimal(readF64() as number);
  return decoder;
}

/** Methods of the library's encoder that its types don't publish. */
interface ObjectMethods {
  encodeObject(object: unknown, depth: number): void;
  encodeNumberAsFloat(value: number): void;
  encodeBigInt64(value: bigint): void;
}

/** Encodes numbers that an event holds as they were written: decimals as floats, integers beyond 2^53 as integers. */
class ExactEncoder {
  readonly #encoder = new Encoder();

  constructor() {
    const methods = this.#encoder as unknown as ObjectMethods;
    const encodeObject = methods.encodeObject.bind(methods);
    methods.encodeObject = (object, depth) => {
      if (!isRawJson(object)) encodeObject(object, depth);
      else if (!isInteger64(object.rawJSON)) methods.encodeNumberAsFloat(Number(object.rawJSON));
      else methods.encodeBigInt64(BigInt(object.rawJSON));
    };
  }

  encode(value: unknown): Uint8Array {
    return this.#encoder.encode(value);
  }
}

/** True for an integer that an int64 or a uint64 holds. */
function isInteger64(text: string): boolean {
  if (!/^-?[0-9]+$/.test(text)) return false;
  const value = BigInt(text);
  return value === BigInt.asIntN(64, value) || value === BigInt.asUintN(64, value);
}

const ENCODER = new ExactEncoder();

/** Returns an object that is JSON as MessagePack. `wrap` makes of it what is written. Throws if it nests deeper than 100. */
export function encodeJson(json: string, wrap: (value: unknown) => unknown = (value) => value): Uint8Array {
  return ENCODER.encode(wrap(parseEventJson(json)));
}

/** Returns a value that is decoded as it is used, by its bytes: those of texts that aren't UTF-8 are lost in the value. */
export type FinishValue = (value: unknown, bytes: Uint8Array) => unknown;

/** Makes the values of a stream, each when it is whole. */
export class ValueStream {
  /** Bytes of the value that isn't whole. */
  pendingBytes = 0;
  readonly #decoder: Decoder<undefined>;
  readonly #finish: FinishValue;
  readonly #scan = new ValueScan();
  #parts: Uint8Array[] = [];

  constructor(options: DecoderOptions, finish: FinishValue = (value) => value) {
    this.#decoder = decimalDecoder(options);
    this.#finish = finish;
  }

  /** Yields the values that `bytes` complete. Throws parsing, also for what the library doesn't take. */
  *values(bytes: Uint8Array): Generator<unknown, void> {
    for (let from = 0; from < bytes.length; ) {
      const end = this.#scan.end(bytes, from);
      const part = bytes.subarray(from, end < 0 ? bytes.length : end);
      addPart(this.#parts, part);
      this.pendingBytes += part.length;
      if (end < 0) return;
      from = end;
      const whole = this.pendingBytes === part.length ? part : Buffer.concat(this.#parts);
      this.#parts = [];
      this.pendingBytes = 0;
      yield this.#finish(this.#decoder.decode(whole), whole);
    }
  }

  /** The values until now are made and used: the next ones may take as much memory again. */
  reset(): void {
    this.#scan.reset();
  }
}
