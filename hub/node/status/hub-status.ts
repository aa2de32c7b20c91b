/** The content of `/api/status` and `/api/agents`, collected from the parts of the hub. */

import type { HealthReport, HubStatus } from "#hub/api/ports/administration.ts";
import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { HostedShardStats } from "#hub/cluster/shards/hosted-index.ts";
import type { Fleet } from "#hub/fleet/fleet.ts";
import type { HostedShards } from "#hub/host/contract/hosted-shards.ts";
import type { Journal } from "#hub/journal/journal.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { withDeadline } from "#proto/kit/lifecycle.ts";
import type { Position } from "#proto/position.ts";
import { DEAD_LETTER_STREAM, DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";

export interface StatusParts {
  readonly version: string;
  readonly compatVersion: string;
  readonly nodeName: string;
  readonly clusterName: string;
  readonly startedMs: number;
  readonly clock: Clock;
  readonly catalog: IndexCatalog;
  readonly shards: Pick<HostedShards, "stats">;
  readonly journal: Journal;
  readonly fleet: () => Fleet | undefined;
  readonly health: () => HealthReport;
  /** Returns the position in RAW up to which the pipelines have processed everything; undefined before they start. */
  readonly processed: () => Position | undefined;
  /** Returns all known pipelines; without any, the built-in one. */
  readonly pipelines: () => Promise<readonly PipelineFacts[]>;
  /** How long each part may take to answer, ms; default 2 s. */
  readonly answerMs?: number;
}

/** The report of a pipeline. */
export interface PipelineFacts {
  readonly id: string;
  readonly origin: "files" | "page" | "built-in";
  readonly running: boolean;
}

/** A page polls every few seconds. */
const ANSWER_MS = 2_000;

const DURABILITY = {
  "power-loss": "acknowledged data survives a power loss",
  process:
    "acknowledged data survives the crash of any process; a power loss may lose the last seconds. With an embedded nats-server of 2.10.27 or newer it survives that too",
} as const;

const STREAMS = { raw: RAW_STREAM, doc: DOC_STREAM, dead_letters: DEAD_LETTER_STREAM } as const;

export class Status implements HubStatus {
  readonly #parts: StatusParts;

  constructor(parts: StatusParts) {
    this.#parts = parts;
  }

  async status(): Promise<JsonObject> {
    const { version, compatVersion, nodeName, clusterName, startedMs, clock, journal } = this.#parts;
    const { durability } = journal.server;
    const [streams, documents, pipelines] = await Promise.all([
      this.#streams(),
      this.#documents(),
      this.#inTime(this.#parts.pipelines(), "the pipelines").catch(() => null),
    ]);
    return {
      status: this.ready() ? this.health().status : "starting",
      health: this.health().parts,
      version,
      compat_version: compatVersion,
      node: nodeName,
      cluster: clusterName,
      started: new Date(startedMs).toISOString(),
      uptime_seconds: Math.floor((clock.now() - startedMs) / 1_000),
      durability,
      durability_meaning: DURABILITY[durability],
      streams,
      ...documents,
      agents: this.agents().length,
      pipelines,
    };
  }

  agents(): JsonObject[] {
    return this.#parts.fleet()?.agents() ?? [];
  }

  agent(id: string): JsonObject | undefined {
    return this.#parts.fleet()?.agent(id);
  }

  forgetAgent(id: string): boolean {
    return this.#parts.fleet()?.forget(id) ?? false;
  }

  ready(): boolean {
    return this.#parts.fleet() !== undefined;
  }

  health(): HealthReport {
    return this.#parts.health();
  }

  /** Returns fill levels and the backlog of the slowest reader; the reason if the log can't be queried. */
  async #streams(): Promise<JsonObject> {
    const { journal } = this.#parts;
    const entries = Object.entries(STREAMS).map(async ([name, stream]) => {
      try {
        const { messages, bytes, maxBytes, firstSequence, lastSequence } = await this.#inTime(
          journal.state(stream),
          `the state of ${stream}`,
        );
        const readUpTo = journal.readUpTo(stream);
        // Messages that the pipelines have read but not delivered also count as waiting.
        const processed = stream === RAW_STREAM ? this.#parts.processed() : undefined;
        const isCurrent = processed?.incarnation === journal.incarnation(stream).incarnation;
        const done = isCurrent ? processed?.sequence : readUpTo;
        const behind = done === undefined ? 0 : Math.max(0, lastSequence - Math.max(done, firstSequence - 1));
        const fill = maxBytes > 0 ? bytes / maxBytes : 0;
        return [name, { messages, behind, bytes, max_bytes: maxBytes, fill }];
      } catch (error) {
        return [name, { error: toAppError(error).message }];
      }
    });
    return Object.fromEntries(await Promise.all(entries)) as JsonObject;
  }

  /** Returns the number of documents and their size; only the number of indices if the shards don't answer now. */
  async #documents(): Promise<JsonObject> {
    const indices = this.#parts.catalog.all();
    const shards = await this.#statistics();
    if (shards === undefined) return { indices: indices.length };
    return {
      indices: indices.length,
      indexed_docs: shards.reduce((sum, { docs }) => sum + docs, 0),
      index_bytes: shards.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }

  async #statistics(): Promise<readonly HostedShardStats[] | undefined> {
    try {
      const statistics = this.#parts.shards.stats(this.#parts.catalog.all());
      return [...(await this.#inTime(statistics, "the shards")).values()].flat();
    } catch {
      // The state of the shards is part of `health`.
      return undefined;
    }
  }

  /** Throws timeout if `answer` takes too long: the page shows the health of the hanging part. */
  #inTime<T>(answer: Promise<T>, what: string): Promise<T> {
    return withDeadline(answer, this.#parts.answerMs ?? ANSWER_MS, what);
  }
}
