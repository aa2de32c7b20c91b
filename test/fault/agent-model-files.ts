/**
 * The files of the agent's random test, and the truth about them: which lines were written, and which of them a
 * deed destroyed before anybody could have kept them. Only those may be missing in the end.
 */

import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync, truncateSync } from "node:fs";
import { systemClock } from "#proto/kit/clock.ts";
import { readMark } from "#test/harness/sequence-log.ts";
import { type LogFile, Writer } from "./agent-model-writer.ts";

/** Generations of a file that a rotation keeps. */
const KEPT = 3;
/** What an agent needs to tell a copy from another file, bytes. */
const COPY_KNOWN_BYTES = 1_024;
/** An agent that runs has found a copy within this time, and holds it open. */
const COPY_FOUND_MS = 5_000;

/** What was found wrong in the end. */
export interface Judgement {
  readonly written: number;
  readonly missing: readonly string[];
  readonly doubled: readonly string[];
  readonly corrupt: readonly string[];
  /** Lines that nobody could have kept and that are missing. */
  readonly destroyed: number;
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
  #agentSinceMs = 0;
  #moves = 0;

  constructor(folder: string, writers: number, random: () => number) {
    mkdirSync(folder, { recursive: true });
    this.#random = random;
    this.#writers = Array.from({ length: writers }, (_, at) => new Writer(`w${at}`, folder));
    for (const { current } of this.#writers) this.#files.add(current);
  }

  /** Records a line that arrived. */
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
    const written = this.#writers.reduce((sum, { log }) => sum + log.count, 0);
    return { written, missing, doubled, corrupt: this.#corrupt, destroyed };
  }

  /** An agent runs from now on. */
  agentBegan(): void {
    this.#agentSinceMs = systemClock.monotonic();
  }

  /** The agent's process ended: what only its open descriptors kept is gone. */
  agentEnded(): void {
    for (const file of this.#files) if (file.path === null) this.#excuse(file);
  }

  /** Writes what is left of a line, so that every writer ends with a whole one. */
  finish(): void {
    for (const writer of this.#writers) writer.complete();
  }

  /** Does something to a file and returns what, for the log. `agentUp`: the agent sees it. */
  step(agentUp: boolean): string {
    const writer = this.#writers[Math.floor(this.#random() * this.#writers.length)]!;
    const die = this.#random();
    if (die < 0.74) return this.#append(writer);
    if (die < 0.84) return this.#begin(writer);
    writer.complete();
    if (die < 0.89) return this.#rotate(writer, agentUp);
    if (die < 0.91) return this.#moveOut(writer);
    if (die < 0.94) return this.#copyAndTruncate(writer);
    if (die < 0.945) return this.#deleteCopy(writer, agentUp);
    if (die < 0.96) return this.#truncate(writer);
    return this.#delete(writer, agentUp);
  }

  #append(writer: Writer): string {
    writer.complete();
    const count = 1 + Math.floor(this.#random() ** 3 * 200);
    const late = writer.rotated[0];
    // A program that hasn't noticed the rotation continues in the old file.
    const file = late?.path != null && this.#random() < 0.05 ? late : writer.current;
    const from = writer.log.count;
    writer.write(file, count);
    return `append ${from} to ${from + count - 1} to ${file.path}`;
  }

  #begin(writer: Writer): string {
    writer.complete();
    writer.begin(this.#random());
    return `part of line ${writer.log.count - 1} to ${writer.path}`;
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
    const path = `${writer.path}.copy${++writer.copied}`;
    copyFileSync(writer.path, path);
    truncateSync(writer.path);
    const copy = { path, lines: file.lines };
    this.#files.add(copy);
    writer.copies.push({ file: copy, madeMs: systemClock.monotonic() });
    file.lines = [];
    return `copy ${writer.path} and truncate it`;
  }

  /** Deletes the oldest copy: an agent that has seen it keeps its lines, though it may not read them yet. */
  #deleteCopy(writer: Writer, agentUp: boolean): string {
    const copy = writer.copies.shift();
    if (copy === undefined) return "nothing";
    const { file, madeMs } = copy;
    const isFound = agentUp && systemClock.monotonic() - Math.max(madeMs, this.#agentSinceMs) > COPY_FOUND_MS;
    if (!isFound) this.#excuse(file);
    rmSync(file.path!);
    const path = file.path;
    file.path = null;
    return `delete ${path}`;
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
    if (this.#random() < 0.5) writer.write(writer.current, 3); // takes the inode at once
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

  #excuse({ lines }: Pick<LogFile, "lines">): void {
    for (const line of lines) {
      const name = nameOf(line);
      if (!this.#indexed.has(name)) this.#excused.add(name);
    }
  }
}

function nameOf({ writer, sequence }: { readonly writer: string; readonly sequence: number }): string {
  return `${writer}/${sequence}`;
}
