/** The registry's row of a file, and the index from content to the files that hold it. */

import { type Anchor, NO_ANCHOR } from "./ack-tracker.ts";

/** The name of content at the hub. */
export interface SourceId {
  readonly fileKey: string;
  readonly generation: number;
}

/** Where the bytes of a generation ended that a truncation took away. */
export interface EarlierGeneration {
  readonly generation: number;
  readonly source: SourceId;
  /** Of the file at that time: copies of this content are named after it. */
  readonly path: string;
  /** Acknowledged without a gap, bytes. */
  readonly offset: number;
  /** In committed segments, bytes. */
  readonly committed: number;
  readonly anchor: Anchor;
  readonly head: Anchor;
}

/** Generations remembered to recognise their copies: rotation by copy takes place seldom. */
export const EARLIER_MAX = 4;

/** State of one file. Its input changes it in place and then calls the registry's `touch`. */
export interface FileRow {
  /** Id of the input that reads it. */
  input: string;
  /** Path when it was opened last; bytes that aren't UTF-8 as \xNN. */
  path: string;
  /** Counts rewrites of the file's content, from 0. */
  generation: number;
  /** Everything below is in the hub's log, bytes. */
  sent: number;
  /** Everything below is in committed segments, bytes; at most `sent` in a healthy system. */
  committed: number;
  /** Of the bytes before `sent`. */
  anchor: Anchor;
  /** Of the first bytes, up to 1,024. */
  head: Anchor;
  /** Size when there was nothing more to read, bytes; -1: look again. */
  size: number;
  /** Size at the last look at the file, bytes: if the file is gone, bytes above `sent` are lost. */
  known: number;
  /** Time of change when `size` was taken, ms since 1970-01-01 UTC. */
  mtimeMs: number;
  /** When the file was found last, ms since 1970-01-01 UTC. */
  seenMs: number;
  /** Those that truncations ended, the latest first; at most EARLIER_MAX. */
  earlier: EarlierGeneration[];
  /** Name of the content at the hub, null until it is known: of a copy, the name it was read under first. */
  source: SourceId | null;
  /** Offsets above `committed` where time ended an event, ascending: read again, it ends there again. */
  cuts: number[];
  /** Where the last event of the file, cut in two by a rotation, continues. */
  tail: Tail | null;
}

/** The rest of an event at the start of the next file. */
export interface Tail {
  /** Key of that file. */
  readonly key: string;
  /** Offset in it after the rest. */
  readonly to: number;
  /** Size of the file that the event begins in: the rest counts as its bytes from there on. */
  readonly at: number;
}

/** How far the agent and the hub's log have come. */
export interface StreamPosition {
  /** Of the RAW stream as last reported, 0 before the first time. */
  incarnation: number;
  /** Stream sequence of the last acknowledged batch, 0 for none. */
  sequence: number;
  /** Nats-Msg-Id of that batch. */
  messageId: string;
}

/** Returns the row of a file that is read from `offset`. */
export function newRow(input: string, path: string, offset: number, nowMs: number): FileRow {
  return {
    input,
    path,
    generation: 0,
    sent: offset,
    committed: offset,
    anchor: NO_ANCHOR,
    head: NO_ANCHOR,
    size: -1,
    known: offset,
    mtimeMs: 0,
    seenMs: nowMs,
    earlier: [],
    source: null,
    cuts: [],
    tail: null,
  };
}

/** Returns the name at the hub of the content of the file `key`. */
export function sourceOf(key: string, row: Pick<FileRow, "generation" | "source">): SourceId {
  return row.source ?? { fileKey: key, generation: row.generation };
}

/** Returns the more recent of two rows: the higher generation, then the higher offset. */
export function newerRow(a: FileRow, b: FileRow): FileRow {
  return a.generation - b.generation || a.sent - b.sent
    ? (a.generation - b.generation || a.sent - b.sent) > 0
      ? a
      : b
    : a;
}

/** Returns the row that `text` holds, or null if it is none. */
export function parseRow(text: string): FileRow | null {
  let row: Partial<FileRow> | null;
  try {
    row = JSON.parse(text) as Partial<FileRow> | null;
  } catch {
    return null;
  }
  if (row === null || !isOffset(row.sent) || !isOffset(row.committed) || !isOffset(row.generation))
    return null;
  if (typeof row.input !== "string" || typeof row.path !== "string") return null;
  const fallback = newRow(row.input, row.path, row.sent, 0);
  return {
    ...fallback,
    ...row,
    anchor: isAnchor(row.anchor) ? row.anchor : NO_ANCHOR,
    head: isAnchor(row.head) ? row.head : NO_ANCHOR,
    cuts: Array.isArray(row.cuts) ? row.cuts.filter(isOffset) : [],
    earlier: earlierOf(row.earlier, row.path),
    source: isSource(row.source) ? row.source : null,
    known: isOffset(row.known) ? row.known : row.sent,
    tail: isTail(row.tail) ? row.tail : null,
  };
}

/** Returns the generations of a row; those of rows that didn't keep their path have the row's. */
function earlierOf(given: unknown, path: string): EarlierGeneration[] {
  if (!Array.isArray(given)) return [];
  return given
    .filter(isEarlier)
    .slice(0, EARLIER_MAX)
    .map((each) => (typeof each.path === "string" ? each : { ...each, path }));
}

/** Returns whether a value of a row can be an offset in a file. */
export function isOffset(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isAnchor(value: unknown): value is Anchor {
  const anchor = value as Anchor | null | undefined;
  return isOffset(anchor?.bytes) && typeof anchor?.hash === "string";
}

function isSource(value: unknown): value is SourceId {
  const source = value as SourceId | null | undefined;
  return typeof source?.fileKey === "string" && isOffset(source.generation);
}

function isEarlier(value: unknown): value is EarlierGeneration {
  const earlier = value as EarlierGeneration | null | undefined;
  const numbers = [earlier?.generation, earlier?.offset, earlier?.committed];
  const { anchor, head, source } = earlier ?? {};
  return numbers.every(isOffset) && isAnchor(anchor) && isAnchor(head) && isSource(source);
}

function isTail(value: unknown): value is Tail {
  const tail = value as Tail | null | undefined;
  return typeof tail?.key === "string" && isOffset(tail.to) && isOffset(tail.at);
}

export class ContentHolders {
  /** Keys of copies by the key of the file they were made of. */
  readonly #copies = new Map<string, readonly string[]>();

  /** Records what a file holds. */
  add(key: string, { source }: Pick<FileRow, "source">): void {
    if (source === null || source.fileKey === key) return;
    this.#copies.set(source.fileKey, [...this.#others(source.fileKey, key), key]);
  }

  /** Forgets a file; `row`: what it held. */
  remove(key: string, row: Pick<FileRow, "source"> | undefined): void {
    const source = row?.source ?? null;
    if (source === null || source.fileKey === key) return;
    const others = this.#others(source.fileKey, key);
    if (others.length > 0) this.#copies.set(source.fileKey, others);
    else this.#copies.delete(source.fileKey);
  }

  /** Returns the keys of a file and of its copies. */
  of(fileKey: string): readonly string[] {
    return [fileKey, ...(this.#copies.get(fileKey) ?? [])];
  }

  #others(fileKey: string, key: string): readonly string[] {
    return (this.#copies.get(fileKey) ?? []).filter((copy) => copy !== key);
  }
}
