/**
 * Inputs whose source all hubs can read (a database, a queue, a file): each runs on one hub at a time, and its state is
 * in a bucket, where the next hub finds it.
 */

import type { InputState } from "#hub/pipeline/plugins/input.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";

/** The right to run an input. */
export interface InputTurn {
  /** Aborted when another hub may run the input: stop before anything else. */
  readonly lost: AbortSignal;
  /** Lets another hub run it. */
  release(): Promise<void>;
}

export interface SharedInputs {
  /** Name under which all hubs send an input's events, so that what two of them send is recognised as the same. */
  readonly hubName: string;
  readonly states: SharedInputStates;
  /** Waits until this hub may run an input. Rejects when `signal` is aborted. */
  turn(pipeline: string, plugin: string, signal: AbortSignal): Promise<InputTurn>;
}

/** Marks that everything that only this hub remembered was copied. */
const COPIED_KEY = "copied";

/** States in a bucket: key `state.<pipeline>.<plugin>.<key>`, each part base64url, JSON. */
export class SharedInputStates {
  readonly #bucket: StateBucket;
  readonly #local: (pipeline: string, plugin: string) => InputState;
  readonly #ready = new Map<string, Promise<void>>();

  /** `local`: what an earlier version remembered on this machine; it is copied where the bucket has nothing yet. */
  constructor(bucket: StateBucket, local: (pipeline: string, plugin: string) => InputState) {
    this.#bucket = bucket;
    this.#local = local;
  }

  /** Returns the part of one input of one pipeline. */
  of(pipeline: string, plugin: string): InputState {
    const bucket = this.#bucket;
    const prefix = `state.${printed(pipeline)}.${printed(plugin)}.`;
    const ready = (): Promise<void> => this.#prepare(pipeline, plugin, prefix);
    const get = async (name: string): Promise<unknown> => {
      const entry = await bucket.get(name);
      return entry === null ? undefined : (JSON.parse(Buffer.from(entry.value).toString()) as unknown);
    };
    return {
      async get(key) {
        await ready();
        return get(prefix + printed(key));
      },
      async put(key, value) {
        await ready();
        await bucket.put(prefix + printed(key), Buffer.from(JSON.stringify(value)));
      },
      async delete(key) {
        await ready();
        await bucket.delete(prefix + printed(key));
      },
      async *entries() {
        await ready();
        const keys = (await bucket.keys(prefix)).map((name) => parsed(name.slice(prefix.length)));
        for (const key of keys.sort()) {
          const value = await get(prefix + printed(key));
          if (value !== undefined) yield [key, value] as const;
        }
      },
    };
  }

  #prepare(pipeline: string, plugin: string, prefix: string): Promise<void> {
    const known = this.#ready.get(prefix);
    if (known !== undefined) return known;
    const copying = this.#copy(pipeline, plugin, prefix);
    this.#ready.set(prefix, copying);
    copying.catch(() => this.#ready.delete(prefix));
    return copying;
  }

  async #copy(pipeline: string, plugin: string, prefix: string): Promise<void> {
    const marker = `${COPIED_KEY}.${prefix.slice("state.".length, -1)}`;
    if ((await this.#bucket.get(marker)) !== null) return;
    for await (const [key, value] of this.#local(pipeline, plugin).entries()) {
      try {
        await this.#bucket.create(prefix + printed(key), Buffer.from(JSON.stringify(value)));
      } catch (error) {
        if (toAppError(error).code !== "journal_conflict") throw error;
      }
    }
    await this.#bucket.put(marker, new Uint8Array());
  }
}

/** An empty text can't be part of a key. */
function printed(text: string): string {
  return `_${Buffer.from(text).toString("base64url")}`;
}

function parsed(part: string): string {
  return Buffer.from(part.slice(1), "base64url").toString();
}
