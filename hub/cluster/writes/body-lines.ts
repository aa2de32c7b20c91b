/** Finds the documents of a body whose action lines are equal or differ only in their ids. */

import { MAX_ID_BYTES } from "#hub/engine/operations/item-result.ts";

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** ASCII without controls. */
const FIRST_CHARACTER = 0x20;
const LAST_CHARACTER = 0x7e;

/** The first line of a body. */
export interface FirstLine {
  /** Bytes, with the newline. */
  readonly lineBytes: number;
  /** Where its id is, between two quotes; without it all lines are equal. */
  readonly id?: IdExtent;
}

/** Offsets in the line; `to` exclusive. */
export interface IdExtent {
  readonly from: number;
  readonly to: number;
}

/** Consecutive documents with such a line before each. */
export interface ScannedLines {
  /** Offset of each document's end. */
  readonly ends: Uint32Array;
  /** Offset of the next line: the body's end, or where to continue. */
  readonly next: number;
  /** Ids of the lines, if they have some. */
  readonly keys?: ScannedKeys;
}

/** Ids of lines. They are ASCII that needs no escape in JSON, 1 to 512 bytes. */
export interface ScannedKeys {
  /** Offset of each document's start. */
  readonly starts: Uint32Array;
  /** Concatenated. */
  readonly ids: Uint8Array;
  /** Offset of each id's end in `ids`. */
  readonly idEnds: Uint32Array;
}

/**
 * Finds the documents of the lines from offset `from` on, of at least `limitBytes` or up to the end. Null if one of them has
 * another line before it than the first of the body, or an id that isn't as in ScannedKeys.
 */
export function scanLines(
  body: Buffer,
  line: FirstLine,
  from: number,
  limitBytes = Number.POSITIVE_INFINITY,
): ScannedLines | null {
  return line.id === undefined
    ? scanEqual(body, line.lineBytes, from, limitBytes)
    : scanKeyed(body, { ...line, id: line.id }, from, limitBytes);
}

function scanEqual(body: Buffer, lineBytes: number, from: number, limitBytes: number): ScannedLines | null {
  const line = body.subarray(0, lineBytes);
  const ends: number[] = [];
  let at = from;
  while (at < body.length && at - from < limitBytes) {
    if (!startsWith(body, at, line)) return null;
    const end = body.indexOf(NEWLINE, at + lineBytes);
    if (end < 0) return null;
    ends.push(end);
    at = end + 1;
  }
  return { ends: Uint32Array.from(ends), next: at };
}

function scanKeyed(
  body: Buffer,
  { lineBytes, id }: Required<FirstLine>,
  from: number,
  limitBytes: number,
): ScannedLines | null {
  const [head, tail] = [body.subarray(0, id.from), body.subarray(id.to, lineBytes)];
  const [starts, ends, idEnds]: [number[], number[], number[]] = [[], [], []];
  const ids: Buffer[] = [];
  let idBytes = 0;
  let at = from;
  while (at < body.length && at - from < limitBytes) {
    const idFrom = at + head.length;
    const idTo = startsWith(body, at, head) ? idEnd(body, idFrom) : idFrom;
    if (idTo === idFrom || !startsWith(body, idTo, tail)) return null;
    const start = idTo + tail.length;
    const end = body.indexOf(NEWLINE, start);
    if (end < 0) return null;
    starts.push(start);
    ends.push(end);
    ids.push(body.subarray(idFrom, idTo));
    idBytes += idTo - idFrom;
    idEnds.push(idBytes);
    at = end + 1;
  }
  const keys = {
    starts: Uint32Array.from(starts),
    ids: joined(ids, idBytes),
    idEnds: Uint32Array.from(idEnds),
  };
  return { ends: Uint32Array.from(ends), next: at, keys };
}

/** Returns the end of the id from `from` on; `from` if there is none that qualifies. */
function idEnd(body: Buffer, from: number): number {
  const limit = Math.min(body.length, from + MAX_ID_BYTES + 1);
  for (let at = from; at < limit; at++) {
    const byte = body[at]!;
    if (byte === QUOTE) return at;
    if (byte < FIRST_CHARACTER || byte > LAST_CHARACTER || byte === BACKSLASH) return from;
  }
  return from;
}

/** In memory of their own, which may be handed to another thread. */
function joined(parts: readonly Buffer[], sizeBytes: number): Uint8Array {
  const all = new Uint8Array(sizeBytes);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function startsWith(body: Buffer, at: number, line: Buffer): boolean {
  if (at + line.length > body.length) return false;
  for (let index = 0; index < line.length; index++) if (body[at + index] !== line[index]) return false;
  return true;
}
