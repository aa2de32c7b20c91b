/** Sources of input `kvstore`: each reads entries and confirms them at the server once the receiver has them. */

import type { RedisClient } from "./client.ts";
import { type Reply, ReplyError } from "./reply.ts";

/** A value of the server in flight. */
export interface Entry {
  readonly message: Buffer;
  /** ms since 1970-01-01 UTC; 0: unknown. */
  readonly timeMs: number;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Name under which it is confirmed. */
  readonly id: string;
}

/** A way to read one key. */
export interface EntrySource {
  /** Prepares reading after a connection; unconfirmed entries come again. */
  open(client: RedisClient): Promise<void>;
  /** Returns the next entries; waits up to `BLOCK_MS` for the first one. */
  read(client: RedisClient): Promise<readonly Entry[]>;
  /** Confirms entries in the order they were read. */
  confirm(client: RedisClient, ids: readonly string[]): Promise<void>;
}

/** Longest wait of the server for something new; confirmations and the end of the input wait as long. */
export const BLOCK_MS = 200;

export interface ListOptions {
  readonly key: string;
  /** Where entries wait for their confirmation; one list per agent. */
  readonly inProgressKey: string;
  /** The list used for that before; undefined for none. */
  readonly formerKey: string | undefined;
  readonly batch: number;
}

/**
 * A list, read from its left end. Entries are moved to a second list at once and leave that when they are
 * confirmed, so nothing is lost with the agent.
 */
export class ListSource implements EntrySource {
  readonly #options: ListOptions;
  /** Entries of the in-progress list that were handed out. */
  #handedOut = 0;
  #left = 0;

  constructor(options: ListOptions) {
    this.#options = options;
  }

  async open(client: RedisClient): Promise<void> {
    this.#handedOut = 0;
    await this.#inherit(client);
    this.#left = Number(await client.command("LLEN", this.#options.inProgressKey));
  }

  /** Moves the entries of the former list to the front of the current one. */
  async #inherit(client: RedisClient): Promise<void> {
    const { formerKey, inProgressKey } = this.#options;
    if (formerKey === undefined) return;
    let moved: Reply;
    do moved = await client.command("LMOVE", formerKey, inProgressKey, "RIGHT", "LEFT");
    while (moved !== null);
  }

  async read(client: RedisClient): Promise<readonly Entry[]> {
    const { key, inProgressKey, batch } = this.#options;
    if (this.#left > 0) {
      const values = asArray(
        await client.command("LRANGE", inProgressKey, this.#handedOut, this.#handedOut + batch - 1),
      );
      this.#left = values.length < batch ? 0 : this.#left - values.length;
      return this.#entries(values);
    }
    const first = await client.blocking(
      BLOCK_MS,
      "BLMOVE",
      key,
      inProgressKey,
      "LEFT",
      "RIGHT",
      BLOCK_MS / 1_000,
    );
    if (first === null) return [];
    const more = Array.from({ length: batch - 1 }, () =>
      client.command("LMOVE", key, inProgressKey, "LEFT", "RIGHT"),
    );
    return this.#entries([first, ...(await Promise.all(more))]);
  }

  async confirm(client: RedisClient, ids: readonly string[]): Promise<void> {
    await client.command("LTRIM", this.#options.inProgressKey, ids.length, -1);
    this.#handedOut -= ids.length;
  }

  #entries(values: readonly Reply[]): Entry[] {
    const entries = values.flatMap((value) =>
      Buffer.isBuffer(value)
        ? [{ message: value, timeMs: 0, fields: { kvstore: { key: this.#options.key } }, id: "" }]
        : [],
    );
    this.#handedOut += entries.length;
    return entries;
  }
}

export interface StreamOptions {
  readonly key: string;
  readonly group: string;
  readonly consumer: string;
  /** Where a group that is made now begins: "0" or "$". */
  readonly start: "0" | "$";
  /** Field that becomes the message; the others become fields. */
  readonly messageField: string;
  /** Entries that another consumer has not confirmed for this time are taken over, ms. */
  readonly claimIdleMs: number;
  readonly batch: number;
  readonly now: () => number;
}

/** A stream, read by a consumer group; entries are acknowledged when they are confirmed. */
export class StreamSource implements EntrySource {
  readonly #options: StreamOptions;
  /** Position of the own unconfirmed entries; null: all have come again. */
  #own: string | null = "0";
  #claimCursor = "0-0";
  #claimedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  async open(client: RedisClient): Promise<void> {
    const { key, group, start } = this.#options;
    this.#own = "0";
    try {
      await client.command("XGROUP", "CREATE", key, group, start, "MKSTREAM");
    } catch (error) {
      if (!(error instanceof ReplyError) || !error.message.startsWith("BUSYGROUP")) throw error;
    }
  }

  async read(client: RedisClient): Promise<readonly Entry[]> {
    const claimed = this.#own === null ? await this.#claim(client) : [];
    if (claimed.length > 0) return claimed;
    const { key, group, consumer, batch } = this.#options;
    const from = this.#own ?? ">";
    const options = ["GROUP", group, consumer, "COUNT", batch, "BLOCK", BLOCK_MS];
    const reply = await client.blocking(BLOCK_MS, "XREADGROUP", ...options, "STREAMS", key, from);
    const stream = asArray(asArray(reply)[0] ?? null);
    const items = asArray(stream[1] ?? null);
    if (this.#own !== null) this.#own = items.length === 0 ? null : textOf(asArray(items.at(-1) ?? null)[0]);
    return this.#entries(items);
  }

  async confirm(client: RedisClient, ids: readonly string[]): Promise<void> {
    await client.command("XACK", this.#options.key, this.#options.group, ...ids);
  }

  /** Takes over the entries of consumers that are gone. */
  async #claim(client: RedisClient): Promise<readonly Entry[]> {
    const { key, group, consumer, claimIdleMs, batch, now } = this.#options;
    if (claimIdleMs === 0 || now() - this.#claimedAtMs < claimIdleMs) return [];
    const reply = asArray(
      await client.command(
        "XAUTOCLAIM",
        key,
        group,
        consumer,
        claimIdleMs,
        this.#claimCursor,
        "COUNT",
        batch,
      ),
    );
    this.#claimCursor = textOf(reply[0]);
    if (this.#claimCursor === "0-0") this.#claimedAtMs = now();
    return this.#entries(asArray(reply[1] ?? null));
  }

  #entries(items: readonly Reply[]): Entry[] {
    return items.flatMap((item) => {
      const [id, values] = asArray(item);
      // An entry that was deleted meanwhile comes without values.
      return Array.isArray(values) ? [this.#entry(textOf(id), values)] : [];
    });
  }

  #entry(id: string, values: readonly Reply[]): Entry {
    const { key, messageField } = this.#options;
    const fields: Record<string, string> = {};
    let message: Buffer | undefined;
    for (let at = 0; at + 1 < values.length; at += 2) {
      const name = textOf(values[at]);
      const value = values[at + 1];
      if (name === messageField && Buffer.isBuffer(value)) message = value;
      else Object.defineProperty(fields, name, { value: textOf(value), enumerable: true });
    }
    const timeMs = Number(id.split("-", 1)[0]);
    const others = Object.keys(fields).length === 0 ? {} : { fields };
    return {
      id,
      message: message ?? Buffer.from(JSON.stringify(fields)),
      timeMs: Number.isSafeInteger(timeMs) ? timeMs : 0,
      fields: { kvstore: { key, id, ...(message === undefined ? {} : others) } },
    };
  }
}

export interface SlowLogOptions {
  readonly batch: number;
  /** Id of the last entry confirmed, -1 for none. */
  readonly lastId: number;
  readonly remember: (id: string) => void;
}

/** The server's own log of slow commands. Entries have ascending ids until the server starts again. */
export class SlowLogSource implements EntrySource {
  readonly #options: SlowLogOptions;
  #lastId: number;

  constructor(options: SlowLogOptions) {
    this.#options = options;
    this.#lastId = options.lastId;
  }

  async open(client: RedisClient): Promise<void> {
    const [newest] = asArray(await client.command("SLOWLOG", "GET", 1));
    // Ids start again with the server.
    if (Number(asArray(newest ?? null)[0] ?? -1) < this.#lastId) this.#lastId = -1;
  }

  async read(client: RedisClient): Promise<readonly Entry[]> {
    const items = asArray(await client.command("SLOWLOG", "GET", this.#options.batch));
    const entries: Entry[] = [];
    for (const item of items.toReversed()) {
      const [id, seconds, micros, args, address] = asArray(item);
      if (typeof id !== "number" || id <= this.#lastId) continue;
      this.#lastId = id;
      const command = asArray(args ?? null).map(textOf);
      const slowlog = {
        id,
        duration: { us: Number(micros) },
        cmd: command[0] ?? "",
        client: textOf(address),
      };
      entries.push({
        id: String(id),
        message: Buffer.from(command.join(" ")),
        timeMs: Number(seconds) * 1_000,
        fields: { kvstore: { slowlog } },
      });
    }
    return entries;
  }

  confirm(_client: RedisClient, ids: readonly string[]): Promise<void> {
    const last = ids.at(-1);
    if (last !== undefined) this.#options.remember(last);
    return Promise.resolve();
  }
}

function asArray(reply: Reply | undefined): readonly Reply[] {
  return Array.isArray(reply) ? reply : [];
}

function textOf(reply: Reply | undefined): string {
  if (Buffer.isBuffer(reply)) return reply.toString();
  return typeof reply === "number" ? String(reply) : "";
}
