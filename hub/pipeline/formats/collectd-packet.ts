/**
 * Packets of collectd's network plugin (github.com/collectd/collectd/wiki/Binary-protocol): parts that each change what is
 * known of the value lists and notifications that follow, signed or encrypted or neither.
 */

import { createDecipheriv, createHash, createHmac, timingSafeEqual } from "node:crypto";
import { decimal } from "#proto/codec/json.ts";

const HEAD_BYTES = 4;

/** Types of parts. */
const TIME = 1;
const VALUES = 6;
const TIME_HIRES = 8;
const MESSAGE = 256;
const SEVERITY = 257;
const SIGNATURE = 0x200;
const ENCRYPTION = 0x210;

/** Parts that hold a text, by what it says. */
const TEXTS: ReadonlyMap<number, keyof Identity> = new Map([
  [0, "host"],
  [2, "plugin"],
  [3, "plugin_instance"],
  [4, "collectd_type"],
  [5, "type_instance"],
] as const);

/**
 * Longest text of a value list's identity, which each value list has a copy of: collectd's own are 128 bytes at most
 * (DATA_MAX_NAME_LEN). Bytes, with the zero.
 */
const MAX_TEXT_BYTES = 256;

/** Parts of a second that times of high resolution count. */
const HIRES_PER_S = 2 ** 30;

/** Of a value: its kind, and its bytes. */
const VALUE_BYTES = 9;
const GAUGE = 1;
const DERIVE = 2;

const SHA1_BYTES = 20;
const SHA256_BYTES = 32;
const IV_BYTES = 16;

/** What a value belongs to. */
export interface Identity {
  readonly host?: string;
  readonly plugin?: string;
  readonly plugin_instance?: string;
  readonly collectd_type?: string;
  readonly type_instance?: string;
}

/** A list of values, or a notification. */
export interface CollectdItem {
  readonly identity: Identity;
  readonly timeMs: number | undefined;
  /** As events have them, gauges as decimals; NaN: the plugin had no value. */
  readonly values?: readonly unknown[];
  readonly message?: string;
  readonly severity?: number;
}

/** What a packet must at least be. */
export type SecurityLevel = "None" | "Sign" | "Encrypt";

export interface CollectdSecurity {
  readonly level: SecurityLevel;
  /** Passwords by user. */
  readonly passwords: ReadonlyMap<string, string>;
}

interface State {
  identity: Identity;
  timeMs: number | undefined;
  severity: number | undefined;
}

/** Yields what a packet consists of. Throws RangeError where it is damaged, or not as secure as it must be. */
export function* readCollectd(packet: Buffer, security: CollectdSecurity): Generator<CollectdItem, void> {
  const state: State = { identity: {}, timeMs: undefined, severity: undefined };
  let isTrusted = security.level === "None";
  for (let at = 0; at < packet.length; ) {
    const type = packet.readUInt16BE(at);
    const length = packet.readUInt16BE(at + 2);
    if (length < HEAD_BYTES || at + length > packet.length)
      throw new RangeError("a part is longer than its packet");
    const body = packet.subarray(at + HEAD_BYTES, at + length);
    at += length;
    if (type === SIGNATURE) {
      isTrusted ||= security.level === "Sign" && isSignedBy(body, packet.subarray(at), security);
    } else if (type === ENCRYPTION) {
      const inner: CollectdSecurity = { ...security, level: "None" };
      yield* readCollectd(decrypted(body, security), inner);
    } else if (isTrusted) {
      const item = take(state, type, body);
      if (item !== undefined) yield item;
    } else throw new RangeError("the packet isn't signed or encrypted as security_level asks for");
  }
}

/** Records what a part says; returns the item that it completes. */
function take(state: State, type: number, body: Buffer): CollectdItem | undefined {
  const { identity, timeMs, severity } = state;
  const text = TEXTS.get(type);
  if (text !== undefined) {
    if (body.length > MAX_TEXT_BYTES) throw new RangeError(`a name has more than ${MAX_TEXT_BYTES} bytes`);
    state.identity = { ...identity, [text]: textOf(body) };
  } else if (type === TIME) state.timeMs = Number(body.readBigUInt64BE()) * 1000;
  else if (type === TIME_HIRES)
    state.timeMs = Math.floor((Number(body.readBigUInt64BE()) * 1000) / HIRES_PER_S);
  else if (type === SEVERITY) state.severity = Number(body.readBigUInt64BE());
  else if (type === VALUES) return { identity, timeMs, values: valuesOf(body) };
  else if (type === MESSAGE) {
    state.severity = undefined;
    return { identity, timeMs, message: textOf(body), ...(severity !== undefined && { severity }) };
  }
  return undefined;
}

/** Texts end with a zero. */
function textOf(body: Buffer): string {
  return body.toString("utf8").split("\0", 1)[0]!;
}

function valuesOf(body: Buffer): unknown[] {
  const count = body.readUInt16BE(0);
  if (count === 0) throw new RangeError("a list of values is empty");
  if (body.length !== 2 + count * VALUE_BYTES) throw new RangeError("a list of values has another length");
  return Array.from({ length: count }, (_, index) => {
    const kind = body[2 + index];
    const at = 2 + count + index * 8;
    // Gauges alone are written as the sender's processor does.
    if (kind === GAUGE) return gauge(body.readDoubleLE(at));
    const value = kind === DERIVE ? body.readBigInt64BE(at) : body.readBigUInt64BE(at);
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  });
}

/** JSON has no infinity. */
function gauge(value: number): unknown {
  if (Number.isNaN(value)) return value;
  return Number.isFinite(value) ? decimal(value) : String(value);
}

/** A signature signs its user's name and all that follows. */
function isSignedBy(body: Buffer, rest: Buffer, { passwords }: CollectdSecurity): boolean {
  const name = body.subarray(SHA256_BYTES);
  const password = passwords.get(name.toString());
  if (password === undefined) throw new RangeError("a user that authfile doesn't name signed the packet");
  const expected = createHmac("sha256", password).update(name).update(rest).digest();
  if (!timingSafeEqual(expected, body.subarray(0, SHA256_BYTES)))
    throw new RangeError("the packet's signature is wrong");
  return true;
}

function decrypted(body: Buffer, { passwords }: CollectdSecurity): Buffer {
  const end = 2 + body.readUInt16BE(0);
  const password = passwords.get(body.toString("utf8", 2, end));
  if (password === undefined) throw new RangeError("a user that authfile doesn't name encrypted the packet");
  const key = createHash("sha256").update(password).digest();
  if (body.length < end + IV_BYTES + SHA1_BYTES) throw new RangeError("an encrypted part is too short");
  const decipher = createDecipheriv("aes-256-ofb", key, body.subarray(end, end + IV_BYTES));
  const plain = Buffer.concat([decipher.update(body.subarray(end + IV_BYTES)), decipher.final()]);
  const content = plain.subarray(SHA1_BYTES);
  const sum = createHash("sha1").update(content).digest();
  if (!sum.equals(plain.subarray(0, SHA1_BYTES))) throw new RangeError("the packet can't be decrypted");
  return content;
}
