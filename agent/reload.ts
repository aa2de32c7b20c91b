/** Reloads changed settings while the agent runs: checks the file at an interval and on SIGHUP. */

import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { AgentSettings } from "#agent/settings/config.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";

export interface ReloaderOptions {
  /** The settings file. */
  readonly path: string;
  /** Reads and checks the settings. Throws settings_invalid. */
  readonly load: () => AgentSettings;
  /** Settings the agent runs with. */
  readonly current: AgentSettings;
  /** Makes the agent run the inputs of other settings. */
  readonly apply: (settings: AgentSettings) => Promise<void>;
  /** Time between checks of the file, ms; 0: only on SIGHUP. */
  readonly everyMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

export class Reloader implements Component {
  readonly #options: ReloaderOptions;
  readonly #task = new BackgroundTask();
  #current: AgentSettings;
  #text: string;
  #reloading: Promise<void> = Promise.resolve();

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#current = options.current;
    this.#text = textOf(options.path);
  }

  start(): Promise<void> {
    if (this.#options.everyMs > 0) this.#task.start((signal) => this.#watch(signal));
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
    await this.#reloading;
  }

  /** Reads the settings and applies them; wrong ones are logged and change nothing. */
  reload(): Promise<void> {
    this.#reloading = this.#reloading.then(() => this.#reload());
    return this.#reloading;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { clock, everyMs, path } = this.#options;
    for (;;) {
      await clock.sleep(everyMs, signal);
      if (signal.aborted) return;
      if (textOf(path) !== this.#text) await this.reload();
    }
  }

  async #reload(): Promise<void> {
    const { path, load, apply, log } = this.#options;
    if (this.#task.signal.aborted) return;
    this.#text = textOf(path);
    try {
      const next = load();
      const restart = needRestart(this.#current, next);
      if (restart.length > 0)
        log.warn({ settings: restart }, "these settings changed and take effect at the next start only");
      await apply(next);
      this.#current = { ...next, file: { ...next.file, ...pick(this.#current, restart) } };
      log.info({ inputs: next.inputs.map(({ id }) => id) }, "settings taken over");
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      log.error(`the changed settings are invalid, continuing with the previous ones: ${error.message}`);
    }
  }
}

/** Returns the settings other than inputs that differ. */
function needRestart(before: AgentSettings, after: AgentSettings): string[] {
  const was = before.file as Readonly<Record<string, unknown>>;
  const is = after.file as Readonly<Record<string, unknown>>;
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (key) => key !== "shipper.inputs" && !isDeepStrictEqual(was[key], is[key]),
  );
}

function pick({ file }: AgentSettings, keys: readonly string[]): object {
  const all = file as Readonly<Record<string, unknown>>;
  return Object.fromEntries(keys.map((key) => [key, all[key]]));
}

/** Returns the text of the file; empty if it can't be read: an editor may be replacing it. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
