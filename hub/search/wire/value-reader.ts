/** Decodes what `value-writer.ts` encodes. */

import { RawJson } from "#hub/search/options/json-writer.ts";
import { AppError, isErrorCode } from "#proto/kit/errors.ts";
import { setMember } from "#proto/kit/json.ts";
import { LateBucket } from "./late-bucket.ts";
import { HEADER_BYTES, SMALL_INTS, SMALL_SHAPES, Tag, WIRE_VERSION } from "./tags.ts";

/** Texts up to this many bytes are read byte by byte, which is faster than a call. */
const SHORT_TEXT = 12;

/** Returns the value in `bytes`, parts of which it may refer to. Throws data_corrupt. */
export function decodeValue(bytes: Uint8Array): unknown {
  try {
    return new ValueReader(bytes).value();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw corrupt("it ends early", error);
  }
}

class ValueReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #shapes: readonly (readonly string[])[];
  readonly #texts: readonly string[];
  #at: number;

  /** Without `tables`, those of the message are read. */
  constructor(
    bytes: Uint8Array,
    at = HEADER_BYTES,
    tables?: { readonly shapes: readonly (readonly string[])[]; readonly texts: readonly string[] },
  ) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = at;
    if (tables !== undefined) {
      this.#shapes = tables.shapes;
      this.#texts = tables.texts;
      return;
    }
    const version = this.#view.getUint8(0);
    if (version !== WIRE_VERSION) throw corrupt(`its version is ${version}, not ${WIRE_VERSION}`);
    this.#at = this.#view.getUint32(1, true);
    this.#shapes = this.#list(() => this.#list(() => this.#tableText()));
    this.#texts = this.#list(() => this.#tableText());
    this.#at = at;
  }

  value(): unknown {
    const tag = this.#view.getUint8(this.#at++);
    if (tag >= Tag.SHAPE) return this.#object(tag - SMALL_SHAPES);
    if (tag >= Tag.SMALL_INT) return tag - SMALL_INTS;
    switch (tag) {
      case Tag.NULL:
        return null;
      case Tag.UNDEFINED:
        return undefined;
      case Tag.FALSE:
        return false;
      case Tag.TRUE:
        return true;
      case Tag.INT32:
        this.#at += 4;
        return this.#view.getInt32(this.#at - 4, true);
      case Tag.FLOAT64:
        this.#at += 8;
        return this.#view.getFloat64(this.#at - 8, true);
      case Tag.TEXT:
        return this.#chars();
      case Tag.KNOWN_TEXT:
        return this.#texts[this.#varint()];
      case Tag.LIST:
        return this.#list(() => this.value());
      case Tag.NUMBERS:
        return this.#numbers();
      case Tag.OBJECT:
        return this.#object(this.#varint());
      case Tag.LATE_BUCKET:
        return this.#lateBucket();
      default:
        return this.#rare(tag);
    }
  }

  #rare(tag: number): unknown {
    switch (tag) {
      case Tag.UTF16: {
        const { buffer, byteOffset, length } = this.#take(this.#varint());
        return Buffer.from(buffer, byteOffset, length).toString("utf16le");
      }
      case Tag.BIGINT:
        return BigInt(this.#chars());
      case Tag.BYTES:
        return this.#take(this.#varint());
      case Tag.RAW_JSON:
        return new RawJson(this.#take(this.#varint()));
      case Tag.MAP:
        return new Map(this.#list(() => [this.value(), this.value()] as const));
      case Tag.ERROR:
        return this.#error();
      default:
        throw corrupt(`it holds the tag ${tag}`);
    }
  }

  #error(): AppError {
    const [code, message, detail, data, cause] = [
      this.value(),
      this.value(),
      this.value(),
      this.value(),
      this.value(),
    ];
    const text = String(code);
    return new AppError(isErrorCode(text) ? text : "internal", String(message), {
      ...(typeof detail === "string" && { detail }),
      data: data as AppError["data"],
      ...(cause !== undefined && { cause: typeof cause === "string" ? new Error(cause) : cause }),
    });
  }

  #object(shape: number): Record<string, unknown> {
    const keys = this.#shapes[shape];
    if (keys === undefined) throw corrupt(`it names the shape ${shape}`);
    const object: Record<string, unknown> = {};
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at]!;
      if (key === "__proto__") setMember(object, key, this.value());
      else object[key] = this.value();
    }
    return object;
  }

  #lateBucket(): LateBucket {
    const key = this.value() as string | number;
    const count = this.value() as number;
    const size = this.#view.getUint32(this.#at, true);
    const from = this.#at + 4;
    this.#at = from + size;
    this.#check();
    const tables = { shapes: this.#shapes, texts: this.#texts };
    return new LateBucket(
      key,
      count,
      () => new ValueReader(this.#bytes, from, tables).value() as Record<string, unknown>,
    );
  }

  #numbers(): number[] {
    const length = this.#varint();
    const numbers: number[] = [];
    for (let at = 0; at < length; at++, this.#at += 8) numbers.push(this.#view.getFloat64(this.#at, true));
    return numbers;
  }

  #list<T>(read: () => T): T[] {
    const length = this.#varint();
    const list: T[] = [];
    for (let at = 0; at < length; at++) list.push(read());
    return list;
  }

  #tableText(): string {
    const text = this.value();
    if (typeof text === "string") return text;
    throw corrupt("a name in it isn't text");
  }

  #chars(): string {
    const length = this.#varint();
    const from = this.#at;
    this.#at += length;
    this.#check();
    if (length > SHORT_TEXT) return this.#bytes.toString("utf8", from, this.#at);
    let text = "";
    for (let at = from; at < this.#at; at++) {
      const byte = this.#bytes[at]!;
      if (byte >= 0x80) return this.#bytes.toString("utf8", from, this.#at);
      text += String.fromCharCode(byte);
    }
    return text;
  }

  #take(length: number): Uint8Array {
    const from = this.#at;
    this.#at += length;
    this.#check();
    const { buffer, byteOffset } = this.#bytes;
    return new Uint8Array(buffer, byteOffset + from, length);
  }

  #varint(): number {
    let value = 0;
    for (let factor = 1; factor < 2 ** 32; factor *= 0x80) {
      const byte = this.#view.getUint8(this.#at++);
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw corrupt("a number in it is too long");
  }

  #check(): void {
    if (this.#at > this.#bytes.length) throw corrupt("it ends early");
  }
}

function corrupt(why: string, cause?: unknown): AppError {
  return new AppError("data_corrupt", `an answer of another thread or node can't be read: ${why}`, { cause });
}
