/** One run of nats-server as a child process: started, awaited until it listens, ended. */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import type { Logger } from "#proto/kit/log.ts";
import { waitForPort } from "./server-files.ts";
import { ServerLog } from "./server-log.ts";

/** The server reads its streams before it listens, which takes seconds for 10 GB on a slow disk. */
const START_TIMEOUT_MS = 60_000;

export interface ServerProcessOptions {
  /** Path of the program. */
  readonly program: string;
  readonly configFile: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
}

export class ServerProcess {
  /** What the server has printed. */
  readonly output: ServerLog;
  readonly #child: ChildProcessByStdio<null, null, Readable>;
  /** Why the program couldn't be started. */
  #failure: Error | undefined;

  /** Starts the program. If that fails, `listening` rejects with the reason. */
  constructor({ program, configFile, env, log }: ServerProcessOptions) {
    this.#child = spawn(program, ["-c", configFile], {
      argv0: "nats-server", // names the ports file; a later hub looks for this name
      stdio: ["ignore", "ignore", "pipe"],
      detached: true, // Ctrl-C must reach only the hub, which needs the log for an orderly stop
      env,
    });
    this.#child.on("error", (error) => (this.#failure ??= error));
    // Without a free descriptor for it there is no stream.
    const output = this.#child.stderr as Readable | undefined;
    this.output = new ServerLog(output, log);
  }

  /** Process id; undefined once the server has ended. */
  get pid(): number | undefined {
    return this.#hasEnded ? undefined : this.#child.pid;
  }

  /** How the server ended, for the log. */
  get exit(): { readonly exit_status: number | null; readonly signal: NodeJS.Signals | null } {
    return { exit_status: this.#child.exitCode, signal: this.#child.signalCode };
  }

  /**
   * Resolves with the port at which the server accepts connections, which it writes below `portsDir`. Rejects if it doesn't
   * start, ends, doesn't listen in time, or `stop` is aborted.
   */
  async listening(portsDir: string, stop: AbortSignal): Promise<number> {
    const child = this.#child;
    const failed = new AbortController();
    const fail = (reason: string): void => failed.abort(new Error(reason));
    const onExit = (code: number | null): void => fail(`it ended with exit code ${code}`);
    const onError = (error: Error): void => fail(error.message);
    const onStop = (): void => fail("the hub is stopping");
    const timer = setTimeout(fail, START_TIMEOUT_MS, `it did not listen within ${START_TIMEOUT_MS} ms`);
    child.once("exit", onExit);
    child.once("error", onError);
    stop.addEventListener("abort", onStop, { once: true });
    if (stop.aborted) onStop();
    try {
      if (this.#failure !== undefined) throw this.#failure;
      if (child.pid === undefined) await once(child, "spawn"); // throws the reason
      return await waitForPort(portsDir, child.pid!, failed.signal);
    } finally {
      clearTimeout(timer);
      child.removeListener("exit", onExit);
      stop.removeEventListener("abort", onStop);
    }
  }

  /** Makes the server read its configuration again. A server that doesn't listen yet ends instead. */
  reload(): void {
    this.#child.kill("SIGHUP");
  }

  /** Resolves when the server has ended or `signal` is aborted. */
  async ended(signal: AbortSignal): Promise<void> {
    if (this.#hasEnded || signal.aborted) return;
    await once(this.#child, "exit", { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  /** Ends the server with SIGTERM, after `graceMs` with SIGKILL, and resolves when it is gone. */
  async terminate(graceMs: number): Promise<void> {
    if (this.#hasEnded) return;
    const gone = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), graceMs);
    await gone;
    clearTimeout(timer);
  }

  get #hasEnded(): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    return pid === undefined || exitCode !== null || signalCode !== null;
  }
}
