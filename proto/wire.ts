/**
 * Protobuf fields written by hand where the generated code would make an unnecessary copy (protobuf.dev, Encoding). A
 * tag is a field's number << 3 | wire type, one byte here. Numbers are integers 0..2^53.
 */

/** Returns a text field, or nothing if it is empty. */
export function encodeText(tag: number, text: string): Buffer {
  return encodeBytes(tag, Buffer.from(text));
}

/** Returns the field, or nothing where `bytes` is empty. */
export function encodeBytes(tag: number, bytes: Uint8Array): Buffer {
  const field = Buffer.allocUnsafe(bytesSize(bytes.length));
  writeBytes(field, 0, tag, bytes);
  return field;
}

/** Bytes of a field of `length` bytes with its tag; 0 if it is empty. */
export function bytesSize(length: number): number {
  return length === 0 ? 0 : 1 + varintSize(length) + length;
}

/** Writes a field unless it is empty; returns where it ends. */
export function writeBytes(buffer: Buffer, at: number, tag: number, bytes: Uint8Array): number {
  if (bytes.length === 0) return at;
  buffer[at++] = tag;
  return put(buffer, writeVarint(buffer, at, bytes.length), bytes);
}

/** Bytes of a number field with its tag; 0 for 0. */
export function numberSize(value: number): number {
  return value === 0 ? 0 : 1 + varintSize(value);
}

/** Writes a number field unless it is 0; returns where it ends. */
export function writeNumber(buffer: Buffer, at: number, tag: number, value: number): number {
  if (value === 0) return at;
  buffer[at++] = tag;
  return writeVarint(buffer, at, value);
}

/** Copies bytes to `at`; returns where they end. */
export function put(buffer: Buffer, at: number, bytes: Uint8Array): number {
  buffer.set(bytes, at);
  return at + bytes.length;
}

/** Bytes of a number, base 128. */
export function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size++;
  return size;
}

/** Writes a number, least significant group first; returns where it ends. Bit operations would cut it off at 2^32. */
export function writeVarint(buffer: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest >= 128) {
    buffer[at++] = (rest % 128) | 0x80;
    rest = Math.floor(rest / 128);
  }
  buffer[at++] = rest;
  return at;
}
