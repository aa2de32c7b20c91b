/**
 * A host: some of the hub's shards with all work on them. It follows DOC for its shards, refreshes, commits, merges, and
 * answers the calls of the front over a channel.
 */

import { isDeepStrictEqual } from "node:util";
import { LogFollower } from "#hub/cluster/shards/log-follower.ts";
import type { ComingShard } from "#hub/cluster/shards/placed-shards.ts";
import type { SetBackReport } from "#hub/cluster/shards/set-back-shards.ts";
import type { NamedShard } from "#hub/cluster/shards/shard-folders.ts";
import { ShardHost } from "#hub/cluster/shards/shard-host.ts";
import type { HostSeat } from "#hub/cluster/shards/shard-owner.ts";
import type { OperationName } from "#hub/host/contract/calls.ts";
import { searchMemory } from "#hub/search/query/search-memory.ts";
import { noteWriting } from "#hub/search/query/turns.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { comparePositions, type Position } from "#proto/position.ts";
import { DocStream } from "./doc-stream.ts";
import { HostCatalog } from "./host-catalog.ts";
import { OPERATIONS } from "./operations/all.ts";
import { type HostState, hostState, type Operation } from "./operations/operation.ts";
import type { Channel } from "./wire/channel.ts";
import { type IncomingCall, type Message, Peer } from "./wire/peer.ts";

export interface HostOptions {
  readonly channel: Channel;
  /** Folder of the shards. */
  readonly folder: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** See ShardHostOptions. */
  readonly onCommitting: (isUnderWay: boolean) => void;
  /** Called when a message with documents arrived. */
  readonly onDocuments?: () => void;
  /** Which of the hub's shards are here. */
  readonly seat: HostSeat;
  /** Further operations, for tests. */
  readonly operations?: Readonly<Record<string, Operation>>;
}

/** The regular report of a host. */
export interface HostReport {
  readonly position: Position;
  /** See LogFollower.failure. */
  readonly failure: string;
  /** See ShardHost.setBack. */
  readonly setBack: SetBackReport | null;
  /** Open contexts of scrolls and changes by query. */
  readonly contexts: number;
}

/** Interval of the reports. */
const REPORT_MS = 250;
/** Interval of the checks whether a position is reached. */
const REACH_MS = 10;

/** Operations that share one memory limit. */
const SEARCHES: ReadonlySet<string> = new Set([
  "asked",
  "count",
  "nextDocuments",
  "nextPage",
  "openContext",
  "openDocuments",
  "search",
] satisfies OperationName[]);

export class Host {
  readonly #options: HostOptions;
  readonly #front: Peer;
  readonly #catalog: HostCatalog;
  readonly #docs: DocStream;
  readonly #shards: ShardHost;
  readonly #follower: LogFollower;
  readonly #state: HostState;
  readonly #operations: Readonly<Record<string, Operation>>;
  readonly #stopping = new AbortController();
  /** The last report: one that says the same isn't sent. */
  #sent: HostReport | undefined;
  /** Shards that other hubs have instead of this one. */
  readonly #absent = new Set<string>();

  constructor(options: HostOptions) {
    const { channel, folder, log, clock, metrics, onCommitting, operations, seat } = options;
    this.#options = options;
    this.#front = new Peer(channel, {
      answer: (call) => this.#answer(call),
      event: (operation, value, parts) => this.#take(operation, value, parts),
    });
    this.#catalog = new HostCatalog(this.#front);
    this.#docs = new DocStream(this.#front);
    const absent = this.#absent;
    this.#shards = new ShardHost({ folder, catalog: this.#catalog, log, clock, onCommitting, seat, absent });
    this.#follower = this.#makeFollower(metrics);
    this.#state = hostState({
      shards: this.#shards,
      placed: this.#shards.placed,
      indices: this.#catalog,
      clock,
      metrics,
      seat,
      ask: (host, operation, { value, parts = [] }, signal, late) =>
        untilAborted(this.#front.call("ask", { host, operation, value }, { parts, signal }), signal, late),
    });
    this.#operations = { ...OPERATIONS, ...operations };
  }

  /** Sends a line to the log. */
  sendLine(line: string): void {
    this.#front.notify("log", line);
  }

  #makeFollower(metrics: Metrics): LogFollower {
    const { log, clock } = this.#options;
    return new LogFollower({
      host: this.#shards,
      log,
      metrics,
      clock,
      read: (after, signal) => this.#docs.read(after, signal),
      oldest: async () => (await this.#front.call("oldest", null)).value as Position,
      reply: (subject, data) => this.#front.notify("reply", subject, [data]),
      deadLetter: async ({ position, data }, reason) => {
        await this.#front.call("deadLetter", { position, reason }, { parts: [data] });
      },
      onCommitted: (position) => this.#front.notify("committed", position),
    });
  }

  async #answer(call: IncomingCall): Promise<Message> {
    switch (call.operation) {
      case "open":
        for (const key of call.value as readonly string[]) this.#absent.add(key);
        await this.#shards.open();
        this.#sendReport();
        return { value: { ...this.#shards.known(), position: this.#shards.position } };
      case "follow":
        await this.#follower.start();
        void this.#report();
        return { value: null };
      case "unfollow":
        this.#stopping.abort();
        await this.#follower.stop();
        return { value: null };
      case "takeShard":
        return this.#takeShard(call.value as ComingShard);
      case "dropShard": {
        const { uuid, shard } = call.value as NamedShard;
        this.#shards.placed.drop(uuid, shard);
        return { value: null };
      }
      case "holdings":
        return { value: this.#shards.placed.holdings() };
      case "reach":
        return this.#reach(call.value as Position, call.signal);
      case "metrics":
        return { value: await this.#options.metrics.own() };
      case "close":
        this.#closeContexts();
        this.#shards.close();
        return { value: null };
    }
    const run = this.#operations[call.operation];
    if (run === undefined) throw new AppError("internal", `a host has no operation ${call.operation}`);
    // An operation that runs for another host's search is charged on the host where it runs.
    return SEARCHES.has(call.operation)
      ? searchMemory().during(() => run(this.#state, call))
      : run(this.#state, call);
  }

  #take(operation: string, value: unknown, parts: readonly Uint8Array[]): void {
    if (operation === "doc") {
      noteWriting();
      this.#options.onDocuments?.();
      this.#docs.take(value as Parameters<DocStream["take"]>[0], parts[0]!);
    } else if (operation === "passed") this.#docs.take(value as Parameters<DocStream["take"]>[0], null);
    else if (operation === "readingFailed") this.#docs.fail(value as Parameters<DocStream["fail"]>[0]);
    else if (operation === "index") this.#catalog.take(parts[0]!);
    else if (operation === "indexGone") this.#catalog.drop(value as string);
    else if (operation === "closeContexts") {
      this.#state.contexts.close(value as readonly string[]);
      this.#state.snapshots.close(value as readonly string[]);
      this.#state.progress.forget(value as readonly string[]);
    }
  }

  /** The log is read again from the position that was set back, even if taking the shard failed half-way. */
  #takeShard(shard: ComingShard): Message {
    try {
      const durable = this.#shards.placed.take(shard);
      // From now on the log must keep what the shard lacks.
      if (durable !== null) this.#front.notify("committed", durable);
      return { value: null };
    } finally {
      this.#follower.reread();
    }
  }

  #closeContexts(): void {
    this.#state.contexts.closeAll();
    this.#state.snapshots.closeAll();
    this.#state.service.stop();
  }

  /** Answers when everything up to a position is applied. */
  async #reach(position: Position, signal: AbortSignal): Promise<Message> {
    while (comparePositions(this.#shards.position, position) < 0) {
      if (signal.aborted) throw new AppError("cancelled", "the position was not reached");
      await this.#options.clock.sleep(REACH_MS, signal);
    }
    return { value: null };
  }

  #sendReport(): void {
    const report: HostReport = {
      position: this.#shards.position,
      failure: this.#follower.failure,
      setBack: this.#shards.setBack(),
      contexts: this.#state.contexts.size,
    };
    if (isDeepStrictEqual(report, this.#sent)) return;
    this.#sent = report;
    this.#front.notify("report", report);
  }

  async #report(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#sendReport();
      await this.#options.clock.sleep(REPORT_MS, signal);
    }
  }
}

/** Fails as soon as `signal` is aborted: a busy host that doesn't answer the cancel must not block its caller. */
async function untilAborted<T>(
  answered: Promise<T>,
  signal: AbortSignal | undefined,
  late: (answer: T) => void = () => undefined,
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const cancel = (): void => {
    reject(new AppError("cancelled", "the request was cancelled"));
    answered.then(late).catch(() => undefined);
  };
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await Promise.race([answered, promise]);
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}
