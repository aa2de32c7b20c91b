/** What inputs remember between starts, in LevelDB. */

import type { Level } from "level";
import type { InputState } from "#hub/pipeline/plugins/input.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";

/** Separates the parts of a key; ids and keys can't hold it. */
const SEPARATOR = "\u0000";

export class InputStates implements Component {
  readonly #folder: string;
  #level: Promise<Level<string, unknown>> | undefined;

  /** `folder` is made where it is missing, at the first use. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    const level = this.#level;
    this.#level = undefined;
    await (await level)?.close();
  }

  /** Returns the part of one input of one pipeline. Calls throw data_locked, data_corrupt. */
  of(pipeline: string, plugin: string): InputState {
    const prefix = `${pipeline}${SEPARATOR}${plugin}${SEPARATOR}`;
    const open = (): Promise<Level<string, unknown>> => this.#open();
    return {
      async get(key) {
        return (await open()).get(prefix + key);
      },
      async put(key, value) {
        await (await open()).put(prefix + key, value, { sync: true });
      },
      async delete(key) {
        await (await open()).del(prefix + key, { sync: true });
      },
      async *entries() {
        const level = await open();
        for await (const [key, value] of level.iterator({ gte: prefix, lt: `${prefix}\uffff` })) {
          yield [key.slice(prefix.length), value] as const;
        }
      },
    };
  }

  async #open(): Promise<Level<string, unknown>> {
    this.#level ??= newLevel(this.#folder);
    const level = await this.#level;
    try {
      await level.open();
    } catch (error) {
      throw new AppError("data_corrupt", `what inputs remember in ${this.#folder} can't be opened`, {
        cause: error,
      });
    }
    return level;
  }
}

/** Loads LevelDB, which most hubs never need, for the first input that remembers something. */
async function newLevel(folder: string): Promise<Level<string, unknown>> {
  const { Level } = await import("level");
  return new Level<string, unknown>(folder, { valueEncoding: "json" });
}
