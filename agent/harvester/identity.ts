/**
 * Identifies files independently of their names. An inode number alone isn't enough: file systems reuse it for the next
 * new file at once. Together with the birth time it identifies one file permanently. Hashes of the first bytes and of
 * the bytes before an offset show whether the content is unchanged.
 */

import { hash } from "node:crypto";
import { type BigIntStats, chmodSync, readSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Anchor, NO_ANCHOR } from "#agent/registry/ack-tracker.ts";

/** Bytes before an offset that the anchor covers. */
export const ANCHOR_BYTES = 256;
/** First bytes of a file that its head fingerprint covers once there are this many. */
export const HEAD_BYTES = 1_024;

/** About 50 ms of changes to a file, more than a tick of any file system's clock that has one. */
const PROBE_TRIES = 5_000;

/** Hexadecimal digits of 2^53. */
const ROUNDED_DIGITS = 14;

/** Bits of a hash that are kept, as characters of base64url: 132. */
const HASH_LENGTH = 22;

/**
 * Returns "<dev>-<inode>-<birth time in ns>", lower-case hexadecimal each; 0 for the time where the system
 * doesn't provide it. Then only the content shows whether an inode was given to a new file.
 */
export function fileKey(
  stat: Pick<BigIntStats, "dev" | "ino" | "birthtimeNs">,
  hasBirthTimes: boolean,
): string {
  const birth = hasBirthTimes ? stat.birthtimeNs : 0n;
  return `${stat.dev.toString(16)}-${stat.ino.toString(16)}-${birth.toString(16)}`;
}

/**
 * Returns false if the system gives the time of change for the time of birth, as it does when statx(2) is forbidden
 * (old container runtimes). Writes a file into `folder` for a moment.
 */
export function systemHasBirthTimes(folder: string): boolean {
  const path = join(folder, `birth-probe.${process.pid}`);
  writeFileSync(path, "");
  try {
    const before = statSync(path, { bigint: true });
    let after = before;
    // The clock of file systems ticks every few milliseconds only.
    for (let tries = 0; tries < PROBE_TRIES && after.ctimeNs === before.ctimeNs; tries++) {
      chmodSync(path, 0o600);
      after = statSync(path, { bigint: true });
    }
    return after.birthtimeNs === before.birthtimeNs;
  } finally {
    rmSync(path);
  }
}

/** Returns the time of birth in a file key, ms since 1970-01-01 UTC; 0 if the system doesn't provide it. */
export function birthMsOf(key: string): number {
  return Number(BigInt(`0x${key.split("-")[2] ?? "0"}`)) / 1e6;
}

/**
 * Returns true if two keys differ only in the number of the device: systems renumber file servers, volumes and
 * subvolumes at each start or mount.
 */
export function differsInDevice(a: string, b: string): boolean {
  return a !== b && a.slice(a.indexOf("-")) === b.slice(b.indexOf("-"));
}

/** Returns the inode number in a file key. */
export function fileInode(key: string): bigint {
  return BigInt(`0x${key.split("-")[1] ?? "0"}`);
}

/** Returns a file's identity by a cheap stat: "<dev>-<inode>". Inodes above 2^53 are rounded. */
export function inodeKey(dev: number, ino: number): string {
  return `${dev.toString(16)}-${ino.toString(16)}`;
}

/** Returns the `inodeKey` of a file key. */
export function inodeOf(key: string): string {
  const [dev = "", inode = ""] = key.split("-");
  if (inode.length < ROUNDED_DIGITS) return `${dev}-${inode}`;
  return inodeKey(Number.parseInt(dev, 16), Number(fileInode(key)));
}

/** Returns the fingerprint of bytes `start` to `end` of `buffer`. */
export function anchorOf(buffer: Buffer, start: number, end: number): Anchor {
  return end <= start ? NO_ANCHOR : new ReadAnchor(buffer.toString("latin1", start, end));
}

/** Of bytes just read. Only few get into the registry, and until then the bytes themselves are compared quicker. */
class ReadAnchor implements Anchor {
  readonly bytes: number;
  #content: string | null;
  #hash = "";

  /** `content`: a character for each byte. */
  constructor(content: string) {
    this.bytes = content.length;
    this.#content = content;
  }

  get hash(): string {
    if (this.#content !== null) {
      const digest = hash("sha256", Buffer.from(this.#content, "latin1"), "base64url");
      this.#hash = digest.slice(0, HASH_LENGTH);
      this.#content = null; // ten thousand files are better remembered by their hashes
    }
    return this.#hash;
  }

  /** Returns true if bytes `start` to `end` of `buffer` are the same. */
  is(buffer: Buffer, start: number, end: number): boolean {
    if (this.#content === null) return anchorOf(buffer, start, end).hash === this.#hash;
    return buffer.toString("latin1", start, end) === this.#content;
  }

  toJSON(): Anchor {
    return { bytes: this.bytes, hash: this.hash };
  }
}

/** Returns true if the bytes that end at `end` of `buffer` are the anchor's. */
export function fits(anchor: Anchor, buffer: Buffer, end: number): boolean {
  if (anchor.bytes === 0) return true;
  const start = end - anchor.bytes;
  if (start < 0) return false;
  if (anchor instanceof ReadAnchor) return anchor.is(buffer, start, end);
  return anchorOf(buffer, start, end).hash === anchor.hash;
}

/** Returns the fingerprint of the first `bytes` of a file; of fewer where it is shorter. */
export function readHead(fd: number, bytes: number): Anchor {
  return readAnchor(fd, bytes, bytes);
}

/** Returns the fingerprint of the `bytes` before `offset` of a file; of fewer where it is shorter. */
export function readAnchor(fd: number, offset: number, bytes: number): Anchor {
  const buffer = Buffer.allocUnsafe(bytes);
  let length = 0;
  while (length < bytes) {
    const read = readSync(fd, buffer, length, bytes - length, offset - bytes + length);
    if (read === 0) break;
    length += read;
  }
  return anchorOf(buffer, 0, length);
}

/** Returns true if the file's first bytes are what `head` describes. */
export function sameHead(fd: number, head: Anchor): boolean {
  return head.bytes === 0 || readHead(fd, head.bytes).hash === head.hash;
}

/** Returns true if the bytes before `offset` of the file are what `anchor` describes. */
export function sameBefore(fd: number, offset: number, anchor: Anchor): boolean {
  return anchor.bytes === 0 || readAnchor(fd, offset, anchor.bytes).hash === anchor.hash;
}
