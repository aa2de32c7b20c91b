/**
 * Standard output of commands. A pipe may accept output later than the command writes it, so a process that ends with
 * `process.exit` loses queued output; and a write that fails is an `error` event, which ends a process that doesn't
 * listen for it.
 */

import type { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { systemCode } from "#proto/kit/errors.ts";
import { systemReason } from "#proto/kit/system-reason.ts";

const FAILED = 1;

/** Watches standard output from its construction on; one per process. */
export class StandardOutput {
  readonly #program: string;
  #failure: Error | undefined;

  /** `program`: its name in messages. */
  constructor(program: string) {
    this.#program = program;
    process.stdout.on("error", (error) => {
      this.#failure ??= error;
    });
    process.stderr.on("error", () => undefined); // there is nowhere left to report it
  }

  /**
   * Resolves once all output is written, with the exit status: `status`, or 1 if output was lost, which is reported on
   * standard error. A reader that closed its end of a pipe, as `head` does, has what it wants: that isn't a failure.
   */
  async finish(status: number): Promise<number> {
    await flushed(process.stdout);
    await setImmediate(); // error events come after the callbacks of writes
    const lost = this.#failure !== undefined && systemCode(this.#failure) !== "EPIPE";
    if (lost)
      process.stderr.write(`${this.#program}: cannot write the output: ${systemReason(this.#failure)}\n`);
    await flushed(process.stderr);
    return lost && status === 0 ? FAILED : status;
  }
}

/**
 * Lets a script that doesn't end with its output run to its end where a reader has closed its end of the pipe, as `head` does:
 * the rest of what it prints is dropped. Other failures end the process.
 */
export function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error) => {
      if (systemCode(error) !== "EPIPE") throw error;
    });
}

function flushed(stream: Writable): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}
