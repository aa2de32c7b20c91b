/**
 * The files of the agent's random test, and the truth about them: which lines were written, and which of them a
 * deed destroyed before anybody could have kept them. Only those may be missing in the end.
 */

import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { join } from "node:path";
import { readMark, SequenceLog } from "#test/harness/sequence-log.ts";

/** Generations of a file that a rotation keeps. */
const KEPT = 3;
/** What an agent needs to tell a copy from another file, bytes. */
const COPY_KNOWN_BYTES = 1_024;

/** A file, whatever it is called; null: deleted. */
interface LogFile {
  path: string | null;
  /** Lines that stand in this file and nowhere else. */
  lines: Line[];
}

interface Line {
  readonly writer: string;
  readonly sequence: number;
  readonly bytes: number;
}

/** What was found wrong in the end. */
export interface Judgement {
  readonly written: number;
  readonly missing: readonly string[];
  readonly doubled: readonly string[];
  readonly corrupt: readonly string[];
  /** Lines that nobody could have kept and that are missing. */
  readonly destroyed: number;
}

/** One writing program with its rotated files. */
class Writer {
  readonly log: SequenceLog;
  readonly path: string;
  current: LogFile;
  rotated: LogFile[] = [];
  copies = 0;
  /** Rest of a line of which the first part is written. */
  rest = "";

  constructor(name: string, folder: string) {
    this.log = new SequenceLog(name, "plain");
    this.path = join(folder, `${name}.log`);
    this.current = { path: this.path, lines: [] };
  }
}

export class AgentWorld {
  /** False while the registry can't be written: a crash makes the agent forget its files and what copies are made of. */
  registryWrites = true;
  readonly #writers: Writer[];
  readonly #files = new Set<LogFile>();
  readonly #random: () => number;
  readonly #indexed = new Map<string, number>();
  readonly #excused = new Set<string>();
  readonly #corrupt: string[] = [];
  #written = 0;
  #moves = 0;

  constructor(folder: string, writers: number, random: () => number) {
    mkdirSync(folder, { recursive: true });
    this.#random = random;
    this.#writers = Array.from({ length: writers }, (_, at) => new Writer(`w${at}`, folder));
    for (const { current } of this.#writers) this.#files.add(current);
  }

  /** Notes a line that arrived. */
  arrived(text: string): void {
    const mark = readMark(text);
    if (mark === undefined) {
      this.#corrupt.push(text.slice(0, 200));
      return;
    }
    const name = nameOf(mark);
    this.#indexed.set(name, (this.#indexed.get(name) ?? 0) + 1);
  }

  /** Lines that should be there and aren't. */
  get outstanding(): number {
    let count = 0;
    for (const { log } of this.#writers) {
      for (let sequence = 0; sequence < log.count; sequence++) {
        const name = nameOf({ writer: log.writer, sequence });
        if (!this.#indexed.has(name) && !this.#excused.has(name)) count++;
      }
    }
    return count;
  }

  judge(): Judgement {
    const missing: string[] = [];
    let destroyed = 0;
    for (const { log } of this.#writers) {
      for (let sequence = 0; sequence < log.count; sequence++) {
        const name = nameOf({ writer: log.writer, sequence });
        if (this.#indexed.has(name)) continue;
        if (this.#excused.has(name)) destroyed++;
        else missing.push(name);
      }
    }
    const doubled = [...this.#indexed].filter(([, times]) => times > 1).map(([name]) => name);
    return { written: this.#written, missing, doubled, corrupt: this.#corrupt, destroyed };
  }

  /** The agent's process ended: what only its open descriptors kept is gone. */
  agentEnded(): void {
    for (const file of this.#files) if (file.path === null) this.#excuse(file);
  }

  /** Writes what is left of a line, so that every writer ends with a whole one. */
  finish(): void {
    for (const writer of this.#writers) this.#complete(writer);
  }

  /** Does something to a file and returns what, for the log. `agentUp`: the agent sees it. */
  step(agentUp: boolean): string {
    const writer = this.#writers[Math.floor(this.#random() * this.#writers.length)]!;
    const die = this.#random();
    if (die < 0.74) return this.#append(writer);
    if (die < 0.84) return this.#begin(writer);
    this.#complete(writer);
    if (die < 0.89) return this.#rotate(writer, agentUp);
    if (die < 0.91) return this.#moveOut(writer);
    if (die < 0.94) return this.#copyAndTruncate(writer);
    if (die < 0.96) return this.#truncate(writer);
    return this.#delete(writer, agentUp);
  }

  #append(writer: Writer): string {
    this.#complete(writer);
    const count = 1 + Math.floor(this.#random() ** 3 * 200);
    const late = writer.rotated[0];
    // A program that hasn't noticed the rotation goes on in the old file.
    const file = late?.path != null && this.#random() < 0.05 ? late : writer.current;
    const from = writer.log.count;
    this.#write(file, writer, count);
    return `append ${from} to ${from + count - 1} to ${file.path}`;
  }

  #write(file: LogFile, writer: Writer, count: number): void {
    let text = "";
    for (let made = 0; made < count; made++) text += this.#line(file, writer);
    appendFileSync(file.path!, text);
  }

  #line(file: LogFile, { log }: Writer): string {
    const sequence = log.count;
    const line = log.line();
    file.lines.push({ writer: log.writer, sequence, bytes: Buffer.byteLength(line) });
    this.#written++;
    return line;
  }

  #begin(writer: Writer): string {
    this.#complete(writer);
    const line = Buffer.from(this.#line(writer.current, writer));
    const at = 1 + Math.floor(this.#random() * (line.length - 1));
    appendFileSync(writer.path, line.subarray(0, at));
    writer.rest = line.subarray(at).toString("latin1");
    return `part of line ${writer.log.count - 1} to ${writer.path}`;
  }

  #complete(writer: Writer): void {
    if (writer.rest === "") return;
    appendFileSync(writer.path, Buffer.from(writer.rest, "latin1"));
    writer.rest = "";
  }

  #rotate(writer: Writer, agentUp: boolean): string {
    if (!existsSync(writer.path)) return "nothing";
    for (const [at, file] of [...writer.rotated.entries()].reverse()) {
      if (file.path === null) continue;
      if (at + 2 > KEPT) this.#remove(file, agentUp);
      else this.#rename(file, `${writer.path}.${at + 2}`);
    }
    this.#rename(writer.current, `${writer.path}.1`);
    writer.rotated = [writer.current, ...writer.rotated].slice(0, KEPT);
    this.#renew(writer);
    return `rotate ${writer.path}`;
  }

  /**
   * To a name outside the patterns: only for a file that the agent knows, others are none of its business then. What
   * it knows must be on disk: after a crash nothing else leads to a file that no pattern names.
   */
  #moveOut(writer: Writer): string {
    const file = writer.current;
    if (!existsSync(writer.path) || !this.#isKnown(file) || !this.registryWrites) return "nothing";
    this.#rename(file, `${writer.path}-moved${++this.#moves}.old`);
    this.#renew(writer);
    return `move ${writer.path} out`;
  }

  #copyAndTruncate(writer: Writer): string {
    const file = writer.current;
    const isKnown = this.#indexedBytes(file) >= COPY_KNOWN_BYTES;
    if (!existsSync(writer.path) || !isKnown || !this.registryWrites) return "nothing";
    const path = `${writer.path}.copy${++writer.copies}`;
    copyFileSync(writer.path, path);
    truncateSync(writer.path);
    this.#files.add({ path, lines: file.lines });
    file.lines = [];
    return `copy ${writer.path} and truncate it`;
  }

  #truncate(writer: Writer): string {
    if (!existsSync(writer.path)) return "nothing";
    this.#excuse(writer.current);
    writer.current.lines = [];
    truncateSync(writer.path);
    return `truncate ${writer.path}`;
  }

  #delete(writer: Writer, agentUp: boolean): string {
    if (!existsSync(writer.path)) return "nothing";
    this.#remove(writer.current, agentUp);
    this.#renew(writer);
    if (this.#random() < 0.5) this.#write(writer.current, writer, 3); // takes the inode at once
    return `delete ${writer.path}`;
  }

  #renew(writer: Writer): void {
    writer.current = { path: writer.path, lines: [] };
    this.#files.add(writer.current);
  }

  #rename(file: LogFile, path: string): void {
    if (existsSync(file.path!)) renameSync(file.path!, path);
    file.path = path;
  }

  /** Deletes a file. An agent that has it open keeps its lines. */
  #remove(file: LogFile, agentUp: boolean): void {
    if (!agentUp || !this.#isKnown(file)) this.#excuse(file);
    if (existsSync(file.path!)) rmSync(file.path!);
    file.path = null;
  }

  /** True where a line of the file has arrived: the agent has it open then, or knows it. */
  #isKnown({ lines }: LogFile): boolean {
    return lines.some((line) => this.#indexed.has(nameOf(line)));
  }

  #indexedBytes({ path, lines }: LogFile): number {
    const size = path !== null && existsSync(path) ? statSync(path).size : 0;
    const found = lines
      .filter((line) => this.#indexed.has(nameOf(line)))
      .reduce((sum, { bytes }) => sum + bytes, 0);
    return Math.min(size, found);
  }

  #excuse({ lines }: LogFile): void {
    for (const line of lines) {
      const name = nameOf(line);
      if (!this.#indexed.has(name)) this.#excused.add(name);
    }
  }
}

function nameOf({ writer, sequence }: { readonly writer: string; readonly sequence: number }): string {
  return `${writer}/${sequence}`;
}
