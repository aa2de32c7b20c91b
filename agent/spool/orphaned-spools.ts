/**
 * Sends what spools of former inputs hold: an input was removed, has no spool any more (`spool.max_bytes: 0`), or its id
 * was made of settings that have changed since. The events keep the id, fields and tags under which they were received.
 */

import { readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { InputContext } from "#agent/contract/input.ts";
import { isSegment, ORIGIN_FILE, readOrigin, Spool, spoolFolder } from "./spool.ts";

export interface OrphanedSpoolsOptions
  extends Pick<InputContext, "output" | "clock" | "log" | "metrics" | "dataFolder"> {
  /** Ids of the inputs with a spool, which send it themselves. */
  readonly inputIds: readonly string[];
}

export class OrphanedSpools {
  readonly #options: OrphanedSpoolsOptions;
  readonly #spools: Spool[] = [];
  readonly #tasks: Promise<void>[] = [];
  readonly #problems: string[] = [];
  #stopped = false;

  constructor(options: OrphanedSpoolsOptions) {
    this.#options = options;
  }

  /** Names the folders that can't be sent, with what to do; empty for none. */
  get problem(): string {
    return this.#problems.join("; ");
  }

  /** Begins to send. A spool that can't be read is logged and stays. */
  start(): void {
    const { dataFolder, inputIds } = this.#options;
    const ofInputs = new Set(inputIds.map((id) => spoolFolder(dataFolder, id)));
    for (const name of namesIn(join(dataFolder, "spool"))) {
      const folder = join(dataFolder, "spool", name);
      if (!ofInputs.has(folder)) this.#take(folder, name);
    }
  }

  /** Ends sending; what is left is sent after the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#spools.map((spool) => spool.stop()));
    await Promise.all(this.#tasks);
  }

  #take(folder: string, name: string): void {
    const { log } = this.#options;
    if (!namesIn(folder).some(isSegment)) {
      remove(folder);
      return;
    }
    const origin = readOrigin(folder);
    if (origin === null) {
      this.#fail(
        `${folder} holds lines of an input that has no spool in the settings, and whose fields and tags are unknown; to send them, give their input a spool and the id: ${name}; to discard them, delete the folder`,
      );
      return;
    }
    const { id, inputType, fieldsJson } = origin;
    const spool = new Spool({ inputType, maxBytes: 0, context: { ...this.#options, id, fieldsJson } });
    try {
      spool.start();
    } catch (error) {
      this.#fail(`the spool ${folder} can't be read: ${(error as Error).message}`);
      return;
    }
    log.info({ folder, bytes: spool.bytes }, "sending the spool of a former input");
    this.#spools.push(spool);
    this.#tasks.push(this.#send(spool, folder));
  }

  async #send(spool: Spool, folder: string): Promise<void> {
    while (!spool.empty && !this.#stopped) await spool.whenChanged();
    await spool.stop();
    if (spool.empty) remove(folder);
  }

  #fail(problem: string): void {
    this.#problems.push(problem);
    this.#options.log.warn(problem);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // no input has had a spool, or it isn't a folder
  }
}

/** Removes an empty spool; a folder with other files stays. */
function remove(folder: string): void {
  try {
    rmSync(join(folder, ORIGIN_FILE), { force: true });
    rmdirSync(folder);
  } catch {
    // The next start checks it again.
  }
}
