/** The part of the distinguished encoding rules of ASN.1 (ITU-T X.690) that certificates need. */

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  object: 0x06,
  text: 0x0c,
  utcTime: 0x17,
  generalTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Returns tag, length and content. */
export function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content), content]);
}

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return tagged(TAG.sequence, ...parts);
}

export function set(...parts: readonly Uint8Array[]): Buffer {
  return tagged(TAG.set, ...parts);
}

/** A non-negative integer, given by its bytes, highest first. */
export function integer(bytes: Uint8Array): Buffer {
  return tagged(TAG.integer, Buffer.from([0]).subarray(0, bytes[0]! >= 0x80 ? 1 : 0), bytes);
}

export function bits(bytes: Uint8Array, unused = 0): Buffer {
  return tagged(TAG.bits, Buffer.from([unused]), bytes);
}

export function octets(bytes: Uint8Array): Buffer {
  return tagged(TAG.octets, bytes);
}

export function isTrue(): Buffer {
  return tagged(TAG.boolean, Buffer.from([0xff]));
}

export function text(value: string): Buffer {
  return tagged(TAG.text, Buffer.from(value));
}

/** A time as YYMMDDHHMMSSZ (up to 2049) or YYYYMMDDHHMMSSZ. */
export function time(value: string): Buffer {
  return tagged(value.length === 13 ? TAG.utcTime : TAG.generalTime, Buffer.from(value, "latin1"));
}

/** An object identifier in dots, such as 1.3.101.112. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return tagged(TAG.object, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** Seven bits a byte, highest first; all but the last have the top bit. */
function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}

function lengthOf({ length }: Uint8Array): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  return length < 0x100 ? Buffer.from([0x81, length]) : Buffer.from([0x82, length >>> 8, length & 0xff]);
}
