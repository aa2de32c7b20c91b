/**
 * Log lines that prove where they went. Each holds a mark `w=<writer> seq=<n> len=<bytes> crc=<8 hex digits>
 * [<text>]`; whoever finds lines again can tell what is missing, doubled, out of order or damaged.
 */

import { crc32 } from "node:zlib";

/** Shapes that real files have, so that every parser of the default pipeline takes part. */
export type LineShape = "access" | "json" | "syslog" | "plain";

const SHAPES: readonly LineShape[] = ["access", "json", "syslog", "plain"];
const WORDS =
  "order paid café refused retry cache miss größer session 東京 upstream closed GET timeout".split(" ");
const MARK = /w=([\w-]+) seq=(\d+) len=(\d+) crc=([0-9a-f]{8}) \[([^\]]*)\]/;
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** Makes the lines of one writer, seq counting from 0. */
export class SequenceLog {
  readonly writer: string;
  readonly #shape: LineShape | "mixed";
  readonly #padding: string;
  #next = 0;

  /** `paddingBytes` make each line that much longer. */
  constructor(writer: string, shape: LineShape | "mixed" = "mixed", paddingBytes = 0) {
    this.writer = writer;
    this.#shape = shape;
    this.#padding = " padding".repeat(Math.ceil(paddingBytes / 8)).slice(0, paddingBytes);
  }

  /** Lines made so far. */
  get count(): number {
    return this.#next;
  }

  /** Returns the next line, newline included. `now`: ms since 1970-01-01 UTC. */
  line(now = Date.now()): string {
    const sequence = this.#next++;
    const shape = this.#shape === "mixed" ? SHAPES[sequence % SHAPES.length]! : this.#shape;
    return `${dress(shape, mark(this.writer, sequence, this.#padding), sequence, new Date(now))}\n`;
  }

  /** Returns the next `count` lines as one text. */
  lines(count: number, now = Date.now()): string {
    let text = "";
    for (let made = 0; made < count; made++) text += this.line(now);
    return text;
  }
}

function mark(writer: string, sequence: number, padding: string): string {
  const words = Array.from(
    { length: 1 + (sequence % 7) },
    (_, at) => WORDS[(sequence * 5 + at * 3) % WORDS.length],
  );
  const text = words.join(" ") + padding;
  const checksum = crc32(`${writer} ${sequence} ${text}`).toString(16).padStart(8, "0");
  return `w=${writer} seq=${sequence} len=${Buffer.byteLength(text)} crc=${checksum} [${text}]`;
}

function dress(shape: LineShape, marked: string, sequence: number, now: Date): string {
  const client = `10.${sequence % 7}.${sequence % 50}.${1 + (sequence % 250)}`;
  switch (shape) {
    case "access":
      return `${client} - - [${accessTime(now)}] "GET /shop/item?id=${sequence} HTTP/1.1" ${
        sequence % 50 === 0 ? 500 : 200
      } ${100 + (sequence % 9_000)} "-" "Mozilla/5.0 (X11; Linux x86_64) ${marked}"`;
    case "json":
      return JSON.stringify({ "@timestamp": now.toISOString(), level: "info", client, message: marked });
    case "syslog":
      return `${syslogTime(now)} web-1 shop[${1000 + (sequence % 100)}]: ${marked}`;
    case "plain":
      return `${now.toISOString()} INFO worker-${sequence % 4} ${marked}`;
  }
}

/** Returns a time as access logs write it: 17/May/2015:10:05:03 +0000. */
export function accessTime(now: Date): string {
  const time = now.toISOString().slice(11, 19);
  return `${pad(now.getUTCDate())}/${MONTHS[now.getUTCMonth()]}/${now.getUTCFullYear()}:${time} +0000`;
}

function syslogTime(now: Date): string {
  const day = String(now.getUTCDate()).padStart(2, " ");
  return `${MONTHS[now.getUTCMonth()]} ${day} ${now.toISOString().slice(11, 19)}`;
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}

/** What became of a writer's lines. */
export interface Verdict {
  /** Lines found, doubles included. */
  readonly found: number;
  readonly missing: readonly number[];
  /** Sequence numbers found more than once. */
  readonly doubled: readonly number[];
  /** Sequence numbers found after a larger one; looked for only where the texts came in an order that means something. */
  readonly reordered: readonly number[];
  /** Texts without a whole mark, at most 20. */
  readonly corrupt: readonly string[];
}

/** A verdict that finds nothing wrong with `count` lines. */
export function flawless(count: number): Verdict {
  return { found: count, missing: [], doubled: [], reordered: [], corrupt: [] };
}

/** Looks for the lines 0..count-1 of `writer` in `texts`; marks of other writers are passed over. */
export function verify(writer: string, count: number, texts: Iterable<string>, ordered = false): Verdict {
  const found = new FoundMarks(ordered);
  found.add(texts);
  return found.verdict(writer, count);
}

interface Sightings {
  /** How often each sequence number was found, at most 255 times: millions of lines are looked for. */
  times: Uint8Array<ArrayBuffer>;
  readonly reordered: number[];
  found: number;
  highest: number;
}

/** Marks of any number of writers, from texts that are given piece by piece and not kept. */
export class FoundMarks {
  readonly #ordered: boolean;
  readonly #writers = new Map<string, Sightings>();
  readonly #corrupt: string[] = [];

  constructor(ordered = false) {
    this.#ordered = ordered;
  }

  add(texts: Iterable<string>): void {
    for (const text of texts) {
      const mark = readMark(text);
      if (mark !== undefined) this.#note(mark);
      else if (this.#corrupt.length < 20) this.#corrupt.push(text.slice(0, 200));
    }
  }

  /** What was found of the lines 0..count-1 of `writer`. */
  verdict(writer: string, count: number): Verdict {
    const { times, reordered, found } = this.#of(writer);
    const missing: number[] = [];
    for (let sequence = 0; sequence < count; sequence++)
      if ((times[sequence] ?? 0) === 0) missing.push(sequence);
    const doubled: number[] = [];
    for (const [sequence, seen] of times.entries()) if (seen > 1) doubled.push(sequence);
    return { found, missing, doubled, reordered, corrupt: this.#corrupt };
  }

  #note({ writer, sequence }: { readonly writer: string; readonly sequence: number }): void {
    const seen = this.#of(writer);
    seen.found++;
    if (sequence >= seen.times.length) seen.times = grown(seen.times, sequence + 1);
    seen.times[sequence] = Math.min(255, seen.times[sequence]! + 1);
    if (this.#ordered && sequence < seen.highest) seen.reordered.push(sequence);
    seen.highest = Math.max(seen.highest, sequence);
  }

  #of(writer: string): Sightings {
    const known = this.#writers.get(writer);
    if (known !== undefined) return known;
    const made: Sightings = { times: new Uint8Array(1_024), reordered: [], found: 0, highest: -1 };
    this.#writers.set(writer, made);
    return made;
  }
}

function grown(before: Uint8Array, atLeast: number): Uint8Array<ArrayBuffer> {
  const after = new Uint8Array(Math.max(2 * before.length, atLeast));
  after.set(before);
  return after;
}

/** Returns writer and sequence of a text whose mark is whole, else undefined. */
export function readMark(text: string): { writer: string; sequence: number } | undefined {
  const [, writer, sequence, length, checksum, words] = MARK.exec(text) ?? [];
  if (writer === undefined || words === undefined) return undefined;
  if (Buffer.byteLength(words) !== Number(length)) return undefined;
  const expected = crc32(`${writer} ${sequence} ${words}`).toString(16).padStart(8, "0");
  return checksum === expected ? { writer, sequence: Number(sequence) } : undefined;
}
