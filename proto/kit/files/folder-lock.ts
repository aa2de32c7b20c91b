/** One process per folder of data. */

import { readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { isAlive, startTicks } from "#proto/kit/process/running-process.ts";

/** Who holds a folder: the pid and when that process started, so that a pid used again is not mistaken for it. */
interface Holder {
  readonly pid: number;
  readonly startTicks: string;
}

/** Paths of the lock files that this thread holds. */
const held = new Set<string>();

/** A lock on a folder, held by a file in it until `release`. A dead holder's lock is taken over. */
export class FolderLock {
  readonly #path: string;
  #released = false;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Locks `folder` for this process, by the file `<name>.lock` in it. Throws data_locked naming the holder. */
  static acquire(folder: string, name: string): FolderLock {
    const path = join(realpathSync(folder), `${name}.lock`);
    if (held.has(path)) throw locked(folder, "this process");
    const me: Holder = { pid: process.pid, startTicks: startTicks(process.pid) };
    for (;;) {
      try {
        writeFileSync(path, JSON.stringify(me), { flag: "wx", mode: 0o600 });
        held.add(path);
        return new FolderLock(path);
      } catch (error) {
        if (systemCode(error) !== "EEXIST") throw error;
      }
      const holder = readHolder(path);
      if (holder !== undefined && holder.pid !== process.pid && isRunning(holder)) {
        throw locked(folder, `process ${holder.pid}`);
      }
      rmSync(path, { force: true });
    }
  }

  /** Returns whether a process that runs, this one or another, holds the lock `name` of `folder`. */
  static isHeld(folder: string, name: string): boolean {
    const holder = readHolder(join(folder, `${name}.lock`));
    return holder !== undefined && isRunning(holder);
  }

  /** Gives the lock back. Safe to call twice. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    held.delete(this.#path);
    rmSync(this.#path, { force: true });
  }
}

function locked(folder: string, holder: string): AppError {
  return new AppError(
    "data_locked",
    `${folder} is in use by ${holder}; end that process or choose another path.data`,
  );
}

function readHolder(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Holder;
  } catch {
    return undefined;
  }
}

function isRunning({ pid, startTicks: ticks }: Holder): boolean {
  return isAlive(pid) && startTicks(pid) === ticks;
}
