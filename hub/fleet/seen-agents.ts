/**
 * The last status of each agent, stored in a bucket so that a hub knows its agents after a restart. Value, JSON:
 * { "v": 1, "atMs": ms since 1970, "status": AgentStatus of proto/log.proto without files, base64 }.
 */

import { toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket, StateEntry } from "#proto/kit/state-bucket.ts";
import { AgentStatus, type tailrace } from "#proto/messages.ts";

/** An agent's last status, without its files. */
export interface SeenAgent {
  readonly atMs: number;
  readonly status: tailrace.AgentStatus;
}

/** Maximum agents written in one round: as many as a log under load stores without delay. */
const SAVED_PER_ROUND = 200;
/** Reads in flight at the start. */
const PARALLEL_READS = 32;

export class SeenAgents {
  readonly #bucket: StateBucket;
  readonly #log: Logger;
  /** Agents not stored yet, the longest waiting first; undefined: to be deleted. */
  readonly #changed = new Map<string, SeenAgent | undefined>();
  #saving: Promise<void> = Promise.resolve();

  constructor(bucket: StateBucket, log: Logger) {
    this.#bucket = bucket;
    this.#log = log;
  }

  /** Returns the stored agents, by last status; none if the bucket can't be read. */
  async load(): Promise<SeenAgent[]> {
    const seen: SeenAgent[] = [];
    try {
      const keys = await this.#bucket.keys();
      for (let start = 0; start < keys.length; start += PARALLEL_READS) {
        const part = keys.slice(start, start + PARALLEL_READS);
        for (const entry of await Promise.all(part.map((key) => this.#bucket.get(key))))
          if (entry !== null) this.#take(entry, seen);
      }
    } catch (error) {
      this.#log.warn({ err: toAppError(error) }, "the agents known before cannot be read");
    }
    return seen.sort((a, b) => a.atMs - b.atMs);
  }

  /** Remembers an agent, or forgets it, at the next save. */
  change(agentId: string, agent: SeenAgent | undefined): void {
    if (agent === undefined) this.#changed.delete(agentId); // the deletion goes to the end
    this.#changed.set(agentId, agent);
  }

  /** Stores the longest waiting changes. Changes that can't be stored now wait for the next call. */
  save(limit = SAVED_PER_ROUND): Promise<void> {
    this.#saving = this.#saving.then(() => this.#save(limit));
    return this.#saving;
  }

  #take({ key, value }: StateEntry, seen: SeenAgent[]): void {
    try {
      seen.push(decode(value));
    } catch (err) {
      this.#log.warn({ err, agent: key }, "the stored status of an agent is damaged; it reports again");
    }
  }

  async #save(limit: number): Promise<void> {
    for (const [agentId, agent] of [...this.#changed].slice(0, limit)) {
      try {
        if (agent === undefined) await this.#bucket.delete(agentId);
        else await this.#bucket.put(agentId, encode(agent));
      } catch (error) {
        this.#log.debug({ err: toAppError(error) }, "an agent's status cannot be stored now");
        return;
      }
      if (this.#changed.get(agentId) === agent) this.#changed.delete(agentId);
    }
  }
}

function encode({ atMs, status }: SeenAgent): Uint8Array {
  const text = Buffer.from(AgentStatus.encode(status).finish()).toString("base64");
  return Buffer.from(JSON.stringify({ v: 1, atMs, status: text }));
}

function decode(bytes: Uint8Array): SeenAgent {
  const { atMs, status } = JSON.parse(Buffer.from(bytes).toString()) as { atMs: number; status: string };
  return { atMs, status: AgentStatus.decode(Buffer.from(status, "base64")) };
}
