/**
 * Lines of syslog as daemons write them to files and send them: RFC 3164 (`Mon dd hh:mm:ss host tag[pid]: text`),
 * the same with an RFC 3339 time (rsyslog's default since Debian 12), and RFC 5424; each with or without `<priority>`.
 */

import { deviceTimeAt } from "./device-time.ts";
import { clearSpan, noSpan, setSpan } from "./span.ts";
import { structuredDataEnd } from "./structured-data.ts";
import { IsoTime, isCivil, type LocalTime, monthAt, twoDigits } from "./time.ts";

const SPACE = 0x20;
const COLON = 0x3a;
const DASH = 0x2d;
const NEWLINE = 0x0a;

/** RFC 5424 §6.2.1: facility 23 × 8 + severity 7. */
const MAX_PRIORITY = 191;

/** RFC 5424 §6.2.4; RFC 1123 names are no longer either. */
const MAX_HOST_BYTES = 255;

const EVENT_FORMATS = [Buffer.from("CEF:"), Buffer.from("LEEF:")];

/** Daemons' names are short; a longer word before a colon is text. RFC 5424 §6.2.5 allows 48. */
const MAX_TAG_BYTES = 64;

/** Names of the severities 0..7 as `log.level` has them. */
export const SEVERITY_LEVELS = [
  "emergency",
  "alert",
  "critical",
  "error",
  "warning",
  "notice",
  "info",
  "debug",
] as const;

/** Reads a line; its fields are those of the last line that `read` returned true for. */
export class SyslogLine {
  /** 0..191, or -1 if none was written. */
  priority = -1;
  /** True for RFC 5424. */
  isRfc5424 = false;
  /** ms since 1970-01-01 UTC; NaN if an RFC 5424 line has none. */
  timeMs = 0;
  /**
   * Where the ISO time with a zone ends that a line without PRI begins with, whether it is syslog or not: `timeMs`;
   * -1 for none.
   */
  timeEnd = -1;
  readonly host = noSpan();
  /** Name of the process: the tag, or APP-NAME. */
  readonly process = noSpan();
  /** Digits of the process id; other PROCIDs are left out. */
  readonly pid = noSpan();
  readonly messageId = noSpan();
  /** RFC 5424 structured data with its brackets. */
  readonly structuredData = noSpan();
  readonly message = noSpan();
  readonly #local: LocalTime;
  readonly #iso: IsoTime;
  #at = 0;
  #timeIsIso = false;

  constructor(local: LocalTime) {
    this.#local = local;
    this.#iso = new IsoTime(local);
  }

  /** Returns true where `bytes` from `start` to `end` are a line of syslog; `readTimeMs` gives the year that RFC 3164 leaves out. */
  read(bytes: Uint8Array, start: number, end: number, readTimeMs: number): boolean {
    clearSpan(this.host);
    clearSpan(this.process);
    clearSpan(this.pid);
    clearSpan(this.messageId);
    clearSpan(this.structuredData);
    this.timeEnd = -1;
    const at = this.#readPriority(bytes, start, end);
    this.isRfc5424 = this.priority >= 0 && bytes[at] === 0x31 && bytes[at + 1] === SPACE;
    if (this.isRfc5424) return this.#read5424(bytes, at + 2, end);
    const isUsual = this.#readTime(bytes, at, end, readTimeMs) && bytes[this.#at] === SPACE;
    const isDevice = !isUsual || (this.priority >= 0 && isZone(bytes, this.#at + 1));
    if (isDevice) {
      // Slow path: only what has a priority was sent by a device.
      const time = this.priority < 0 ? null : deviceTimeAt(bytes, at, end, readTimeMs, this.#local);
      if (time === null) return false;
      this.timeMs = time.timeMs;
      this.#at = time.end;
      if (time.host !== undefined) Object.assign(this.host, time.host);
    }
    return this.#readOrigin(bytes, end);
  }

  /** Reads host and tag, which follow the time. */
  #readOrigin(bytes: Uint8Array, end: number): boolean {
    this.message.end = end;
    const text = this.#hostlessText(bytes, end);
    if (text >= 0) {
      this.message.start = text;
      return true;
    }
    const hostEnd = tokenEnd(bytes, this.#at + 1, end);
    if (this.priority >= 0 && bytes[hostEnd - 1] === COLON) {
      // The system's own socket and some firewalls send no host.
      this.#readTag(bytes, this.#at + 1, end);
      // A colon within the word is none of a tag: an IPv6 address.
      return this.process.start >= 0 && this.message.start >= hostEnd;
    }
    if (hostEnd >= end || hostEnd === this.#at + 1 || hostEnd - this.#at > MAX_HOST_BYTES) return false;
    if (bytes[hostEnd - 1] === COLON || !isHost(bytes, this.#at + 1, hostEnd)) return false;
    this.host.start = this.#at + 1;
    this.host.end = hostEnd;
    this.#readTag(bytes, hostEnd + 1, end);
    if (this.priority >= 0) {
      // Firewalls write `host : text`.
      if (this.process.start < 0 && isLoneColon(bytes, hostEnd, end)) this.message.start = hostEnd + 3;
      return true;
    }
    return this.process.start >= 0 || !this.#timeIsIso || isEventFormat(bytes, hostEnd + 1);
  }

  /** Returns where the text begins if neither host nor tag follows the time, else -1. */
  #hostlessText(bytes: Uint8Array, end: number): number {
    const at = this.#at;
    if (bytes[at] === COLON) return afterColon(bytes, at, end);
    if (this.priority < 0) return -1;
    if (isLoneColon(bytes, at, end)) return at + 3;
    return isEventFormat(bytes, at + 1) ? at + 1 : -1;
  }

  /** Reads `<13>`; returns the offset after it. */
  #readPriority(bytes: Uint8Array, start: number, end: number): number {
    this.priority = -1;
    if (bytes[start] !== 0x3c) return start;
    let value = 0;
    let at = start + 1;
    for (; at < end && at < start + 4; at++) {
      const digit = bytes[at]! - 0x30;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    if (at === start + 1 || bytes[at] !== 0x3e || value > MAX_PRIORITY) return start;
    this.priority = value;
    return at + 1;
  }

  /** Reads `Mar 27 13:06:56` or an RFC 3339 time; after a priority ISO times without "T" and zone, too. */
  #readTime(bytes: Uint8Array, at: number, end: number, readTimeMs: number): boolean {
    this.#timeIsIso = bytes[at]! >= 0x30 && bytes[at]! <= 0x39;
    if (this.#timeIsIso) {
      if (!this.#iso.read(bytes, at, end)) return false;
      if (this.priority < 0 && (bytes[at + 10] !== 0x54 || !this.#iso.hasZone)) return false;
      this.timeMs = this.#iso.timeMs;
      this.#at = this.#iso.end;
      if (this.priority < 0) this.timeEnd = this.#at;
      return true;
    }
    if (at + 16 > end || bytes[at + 3] !== SPACE || bytes[at + 6] !== SPACE) return false;
    if (bytes[at + 9] !== COLON || bytes[at + 12] !== COLON) return false;
    const month = monthAt(bytes, at);
    const day = bytes[at + 4] === SPACE ? bytes[at + 5]! - 0x30 : twoDigits(bytes, at + 4);
    const hour = twoDigits(bytes, at + 7);
    const minute = twoDigits(bytes, at + 10);
    const second = twoDigits(bytes, at + 13);
    if (!isCivil(month, day, hour, minute, second)) return false;
    this.timeMs = this.#local.withoutYear(readTimeMs, month, day, hour, minute, second);
    this.#at = at + 15;
    return true;
  }

  /** Reads `name[pid]: ` or `name: `; without one the message begins at `at`. */
  #readTag(bytes: Uint8Array, at: number, end: number): void {
    this.message.start = at;
    let offset = at;
    const limit = Math.min(end, at + MAX_TAG_BYTES);
    while (offset < limit && bytes[offset] !== COLON && bytes[offset] !== 0x5b && bytes[offset] !== SPACE)
      offset++;
    const nameEnd = offset;
    if (nameEnd === at || nameEnd >= limit) return;
    let pidEnd = -1;
    if (bytes[offset] === 0x5b) {
      pidEnd = bytes.indexOf(0x5d, offset + 1);
      if (pidEnd < 0 || pidEnd >= end || pidEnd - offset > MAX_TAG_BYTES) return;
      offset = pidEnd + 1;
    }
    if (bytes[offset] !== COLON || offset >= end || isEventFormat(bytes, at)) return;
    this.process.start = at;
    this.process.end = nameEnd;
    if (pidEnd > 0) this.#setPid(bytes, nameEnd + 1, pidEnd);
    this.message.start = afterColon(bytes, offset, end);
  }

  /** RFC 5424 §6 from TIMESTAMP on. */
  #read5424(bytes: Uint8Array, start: number, end: number): boolean {
    let at = start;
    if (bytes[at] === DASH && bytes[at + 1] === SPACE) {
      this.timeMs = Number.NaN;
      at++;
    } else {
      if (!this.#iso.read(bytes, at, end) || !this.#iso.hasZone) return false;
      this.timeMs = this.#iso.timeMs;
      at = this.#iso.end;
    }
    const processId = noSpan();
    for (const target of [this.host, this.process, processId, this.messageId]) {
      if (bytes[at] !== SPACE || at >= end) return false;
      const stop = tokenEnd(bytes, at + 1, end);
      setSpan(target, bytes, at + 1, stop);
      at = stop;
    }
    if (processId.start >= 0) this.#setPid(bytes, processId.start, processId.end);
    if (bytes[at] !== SPACE || at + 1 >= end) return false;
    const dataEnd = structuredDataEnd(bytes, at + 1, end);
    if (dataEnd < 0) return false;
    setSpan(this.structuredData, bytes, at + 1, dataEnd);
    at = bytes[dataEnd] === SPACE && dataEnd < end ? dataEnd + 1 : dataEnd;
    // RFC 5424 §6.4: UTF-8 messages may begin with a byte order mark.
    if (bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf && at + 3 <= end) at += 3;
    this.message.start = at;
    this.message.end = end;
    return true;
  }

  #setPid(bytes: Uint8Array, start: number, end: number): void {
    if (end <= start || end - start > 10 || bytes[start] === 0x30) return;
    for (let at = start; at < end; at++) if (bytes[at]! < 0x30 || bytes[at]! > 0x39) return;
    this.pid.start = start;
    this.pid.end = end;
  }
}

/** `UTC:` or `GMT:`, which would look like a tag. */
function isZone(bytes: Uint8Array, at: number): boolean {
  if (bytes[at + 3] !== COLON) return false;
  return ["UTC", "GMT"].includes(String.fromCharCode(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!));
}

/** ` : ` at `at`. */
function isLoneColon(bytes: Uint8Array, at: number, end: number): boolean {
  return at + 2 < end && bytes[at] === SPACE && bytes[at + 1] === COLON && bytes[at + 2] === SPACE;
}

/** `CEF:0` or `LEEF:1`, whose version would look like the text after a tag. */
function isEventFormat(bytes: Uint8Array, at: number): boolean {
  const name = EVENT_FORMATS.find((each) => each.every((byte, index) => bytes[at + index] === byte));
  const digit = name === undefined ? -1 : bytes[at + name.length]! - 0x30;
  return digit >= 0 && digit <= 9;
}

/** Returns the offset after the colon at `at` and one space. */
function afterColon(bytes: Uint8Array, at: number, end: number): number {
  return at + 1 < end && bytes[at + 1] === SPACE ? at + 2 : at + 1;
}

function tokenEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== SPACE && bytes[at] !== NEWLINE) at++;
  return at;
}

/** Letters, digits and `._-:%` (IPv6 addresses too). */
function isHost(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]! | 0x20;
    const letterOrDigit = (byte >= 0x61 && byte <= 0x7a) || (bytes[at]! >= 0x30 && bytes[at]! <= 0x3a);
    if (!letterOrDigit && !isHostMark(bytes[at]!)) return false;
  }
  return true;
}

function isHostMark(byte: number): boolean {
  return byte === 0x2e || byte === DASH || byte === 0x5f || byte === 0x25;
}
