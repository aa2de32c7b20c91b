/** A program that writes lines into files, for the agent's random test: whole ones, and halves of them. */

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { SequenceLog } from "#test/harness/sequence-log.ts";

/** A file, whatever it is called; null: deleted. */
export interface LogFile {
  path: string | null;
  /** Lines that stand in this file and nowhere else. */
  lines: Line[];
}

export interface Line {
  readonly writer: string;
  readonly sequence: number;
  readonly bytes: number;
}

/** A copy that a rotation made. */
export interface Copy {
  readonly file: LogFile;
  /** On the monotonic clock. */
  readonly madeMs: number;
}

/** One writing program with its rotated files. */
export class Writer {
  readonly log: SequenceLog;
  readonly path: string;
  current: LogFile;
  rotated: LogFile[] = [];
  copies: Copy[] = [];
  copied = 0;
  /** Rest of a line of which the first part is written. */
  #rest = "";

  constructor(name: string, folder: string) {
    this.log = new SequenceLog(name, "plain");
    this.path = join(folder, `${name}.log`);
    this.current = { path: this.path, lines: [] };
  }

  /** Appends lines to one of its files. */
  write(file: LogFile, count: number): void {
    let text = "";
    for (let made = 0; made < count; made++) text += this.#line(file);
    appendFileSync(file.path!, text);
  }

  /** Appends the first part of a line, cut anywhere; `random` is between 0 and 1. */
  begin(random: number): void {
    const line = Buffer.from(this.#line(this.current));
    const at = 1 + Math.floor(random * (line.length - 1));
    appendFileSync(this.path, line.subarray(0, at));
    this.#rest = line.subarray(at).toString("latin1");
  }

  /** Appends what is left of a line. */
  complete(): void {
    if (this.#rest === "") return;
    appendFileSync(this.path, Buffer.from(this.#rest, "latin1"));
    this.#rest = "";
  }

  #line(file: LogFile): string {
    const sequence = this.log.count;
    const line = this.log.line();
    file.lines.push({ writer: this.log.writer, sequence, bytes: Buffer.byteLength(line) });
    return line;
  }
}
