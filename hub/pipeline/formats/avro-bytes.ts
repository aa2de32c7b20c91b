/** The primitive values of Avro's binary encoding (avro.apache.org/docs/1.12.0/specification, "Binary encoding"). */

/** Values in one message: items of some types take no bytes, so that a count alone could ask for any number. */
const MAX_VALUES = 1_000_000;

/** Deepest nesting of records. */
const MAX_DEPTH = 64;

/** Bytes of a varint that a number holds exactly: 7 of 7 bits each. */
const EXACT_BYTES = 7;
const MAX_LONG_BYTES = 10;

/** Reads values one after the other. All methods throw RangeError where the bytes end or can't be. */
export class AvroReader {
  readonly #bytes: Buffer;
  #at = 0;
  #values = 0;
  /** Records that are open. */
  #depth = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** Begins a record, which may be within another one. */
  enter(): void {
    if (++this.#depth > MAX_DEPTH) throw new RangeError(`more than ${MAX_DEPTH} nested records`);
    this.count();
  }

  /** Ends a record. */
  leave(): void {
    this.#depth--;
  }

  /** Counts a value. */
  count(): void {
    if (++this.#values > MAX_VALUES) throw new RangeError(`a message has more than ${MAX_VALUES} values`);
  }

  /** An integer of at most 64 bits, zigzag-encoded; text where a number doesn't hold it. */
  long(): number | string {
    let length = 1;
    while (this.#bytes.readUInt8(this.#at + length - 1) >= 0x80)
      if (++length > MAX_LONG_BYTES) throw new RangeError("an integer has more than 64 bits");
    const bytes = this.take(length);
    if (length <= EXACT_BYTES) {
      const value = bytes.reduceRight((sum, byte) => sum * 128 + (byte & 0x7f), 0);
      return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
    const value = bytes.reduceRight((sum, byte) => (sum << 7n) | BigInt(byte & 0x7f), 0n);
    const signed = BigInt.asIntN(64, value & 1n ? ~(value >> 1n) : value >> 1n);
    return Number.isSafeInteger(Number(signed)) ? Number(signed) : signed.toString();
  }

  /** A length, a count or an index. */
  int(): number {
    const value = this.long();
    if (typeof value !== "number") throw new RangeError("a length isn't a number");
    return value;
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#at++);
  }

  float(): number {
    return this.take(4).readFloatLE();
  }

  double(): number {
    return this.take(8).readDoubleLE();
  }

  /** Bytes with their length before them. */
  bytes(): Buffer {
    return this.take(this.int());
  }

  take(length: number): Buffer {
    if (length < 0 || this.#at + length > this.#bytes.length)
      throw new RangeError("the message ends within a value");
    return this.#bytes.subarray(this.#at, (this.#at += length));
  }
}

/** Writes values one after the other. */
export class AvroWriter {
  readonly #parts: Uint8Array[] = [];

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  /** An integer that 64 bits hold. Throws for another one. */
  long(value: number | string | bigint): void {
    const whole = BigInt(value);
    if (BigInt.asIntN(64, whole) !== whole) throw new RangeError(`${value} has more than 64 bits`);
    let rest = BigInt.asUintN(64, (whole << 1n) ^ (whole >> 63n));
    const bytes: number[] = [];
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    this.#parts.push(Uint8Array.from(bytes));
  }

  float(value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatLE(value);
    this.raw(bytes);
  }

  double(value: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    this.raw(bytes);
  }

  bytesOf(bytes: Uint8Array): void {
    this.long(bytes.length);
    this.raw(bytes);
  }

  raw(bytes: Uint8Array): void {
    this.#parts.push(bytes);
  }
}
