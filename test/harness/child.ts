/** A process under test: its output in a log file, its readiness line, its end by signal; never left behind. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { withDeadline } from "#proto/kit/lifecycle.ts";

/** Checkout whose hub and agent are tested; it needs its own `node_modules`. */
const CHECKOUT = resolve(process.env["TAILRACE_FAULT_CHECKOUT"] ?? join(import.meta.dirname, "../.."));

/** Bytes of the log that an error message shows. */
const TAIL_BYTES = 4_000;

export interface ChildOptions {
  /** "hub"; for messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Standard output and standard error, appended. */
  readonly logFile: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** Returns the path of a program under test: this checkout's, or that of the checkout in TAILRACE_FAULT_CHECKOUT. */
export function programUnderTest(program: "hub" | "agent"): string {
  return join(CHECKOUT, program, "bin", `tailrace-${program}`);
}

/** Returns true if the hub under test has a setting, by the reference that its checkout holds. */
export function hubHasSetting(name: string): boolean {
  return readFileSync(join(CHECKOUT, "docs/settings.md"), "utf8").includes(`| \`${name}\` |`);
}

/** The line a process prints when it works. */
export type ReadyLine = Readonly<Record<string, unknown>> & { readonly ready: true };

export class Child {
  readonly #process: ChildProcess;
  readonly #options: ChildOptions;
  readonly #ready = Promise.withResolvers<ReadyLine>();
  /** Resolves with the exit status, or with the signal's name. */
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly #killAtExit = (): void => void this.#process.kill("SIGKILL");

  /** Starts it. */
  constructor(options: ChildOptions) {
    this.#options = options;
    mkdirSync(dirname(options.logFile), { recursive: true });
    const log = openSync(options.logFile, "a");
    this.#process = spawn(options.command, options.args, {
      stdio: ["ignore", "pipe", log],
      env: { ...process.env, ...options.env },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    process.once("exit", this.#killAtExit);
    this.#ready.promise.catch(() => undefined);
    this.ended = this.#follow(log);
  }

  /** Process id. */
  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Resolves with the readiness line; throws with the end of the log when the process ends or `deadlineMs` pass. */
  async ready(deadlineMs = 60_000): Promise<ReadyLine> {
    try {
      return await withDeadline(this.#ready.promise, deadlineMs, `start of ${this.#options.name}`);
    } catch (error) {
      throw new Error(`${(error as Error).message}; its log ends:\n${this.logTail()}`, { cause: error });
    }
  }

  /** Sends `signal` and resolves with how the process ended. */
  async end(signal: NodeJS.Signals, deadlineMs = 60_000): Promise<number | NodeJS.Signals> {
    if (this.running) this.#process.kill(signal);
    try {
      return await withDeadline(this.ended, deadlineMs, `end of ${this.#options.name} after ${signal}`);
    } catch (error) {
      this.#process.kill("SIGKILL");
      await this.ended;
      throw new Error(`${(error as Error).message}; its log ends:\n${this.logTail()}`, { cause: error });
    }
  }

  /** Sends a signal and waits for nothing. */
  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** The last lines it wrote. */
  logTail(): string {
    return readFileSync(this.#options.logFile, "utf8").slice(-TAIL_BYTES);
  }

  async #follow(log: number): Promise<number | NodeJS.Signals> {
    const lines = createInterface({ input: this.#process.stdout! });
    lines.on("line", (line) => {
      writeSync(log, `${line}\n`);
      if (line.startsWith('{"ready":true')) this.#ready.resolve(JSON.parse(line) as ReadyLine);
    });
    try {
      const [code, signal] = (await once(this.#process, "close")) as [number | null, NodeJS.Signals | null];
      this.#ready.reject(
        new Error(`${this.#options.name} ended (${signal ?? `status ${code}`}) before it was ready`),
      );
      return signal ?? code ?? 0;
    } catch (error) {
      this.#ready.reject(error);
      return 127;
    } finally {
      process.removeListener("exit", this.#killAtExit);
      closeSync(log);
    }
  }
}
