/**
 * Makes this hub's shards match the table of copies: copies new ones from a hub that has them, drops those that it should
 * give up once all other holders have them, and publishes which it has. docs/decisions/0015 has the rules.
 */

import { type HeldCopies, sameHeld } from "#hub/cluster/allocation/copy-table.ts";
import type { CopyView } from "#hub/cluster/allocation/copy-view.ts";
import type { Holding } from "#hub/cluster/shards/placed-shards.ts";
import { type NamedShard, shardKey } from "#hub/cluster/shards/shard-folders.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Position } from "#proto/position.ts";

const TICK_MS = 1_000;
/** Pause before a shard that couldn't be taken or dropped is tried again. */
const AGAIN_MS = 5_000;
/**
 * Time that `stop` waits for operations that can't be aborted, such as a read of the table: a step ends before its next
 * change.
 */
const STOP_MS = 3_000;

/** The shards of this hub. */
export interface OwnShards {
  hasShard(uuid: string, shard: number): boolean;
  holdings(signal: AbortSignal): Promise<readonly Holding[]>;
  drop(uuid: string, shard: number): Promise<void>;
  /** Position up to which everything was applied. */
  readonly position: Position;
}

export interface CopyPlacerOptions {
  /** Id of this hub. */
  readonly node: string;
  /** True: this hub follows a table as soon as there is one. */
  readonly places: boolean;
  readonly view: CopyView;
  readonly shards: OwnShards;
  /** Copies a shard from one of these hubs, opens it and waits until it has caught up. */
  readonly take: (shard: NamedShard, from: readonly string[], signal: AbortSignal) => Promise<void>;
  /** Returns whether a hub confirms that it has a whole copy of a shard, with everything up to a position on disk. */
  readonly confirm: (
    hub: string,
    shard: NamedShard,
    position: Position,
    signal: AbortSignal,
  ) => Promise<boolean>;
  /** Resolves when this hub has applied everything that is in the log now. Throws timeout, unavailable. */
  readonly catchUp: (signal: AbortSignal) => Promise<void>;
  readonly indices: () => readonly { readonly uuid: string; readonly shards: number }[];
  /** Maximum replicas of an index; infinite: one for each hub, also for an unknown index. */
  readonly replicas: (uuid: string) => number;
  readonly membership: { readonly isValid: boolean; readonly session: string };
  /** Ids of the live hubs. */
  readonly live: () => readonly string[];
  /** Stores what this hub has. Throws journal_conflict if another process has done so for it. */
  readonly publish: (held: HeldCopies) => Promise<void>;
  /** Reads table, hubs and what they have from the leader. */
  readonly refresh: () => Promise<void>;
  readonly onChange: (listener: () => void) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

export class CopyPlacer implements Component {
  readonly #options: CopyPlacerOptions;
  readonly #abort = new AbortController();
  /** Shards that this hub is about to drop, by `shardKey`. */
  readonly #leaving = new Set<string>();
  #published: HeldCopies | undefined;
  #wake = new AbortController();
  readonly #notBefore = new Map<string, number>();
  #taking: NamedShard | undefined;
  /** The membership session in which this hub caught up with the log. */
  #caughtUp = "";
  #running: Promise<void> = Promise.resolve();

  constructor(options: CopyPlacerOptions) {
    this.#options = options;
    options.onChange(() => this.#wake.abort());
  }

  /** The shard in transit. */
  get taking(): NamedShard | undefined {
    return this.#taking;
  }

  start(): Promise<void> {
    this.#running = this.#run();
    return Promise.resolve();
  }

  /** Aborts the current step; a shard in transit continues at the next start. */
  async stop(): Promise<void> {
    this.#abort.abort();
    const late = new AbortController();
    await Promise.race([this.#running, this.#options.clock.sleep(STOP_MS, late.signal)]);
    late.abort();
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#abort;
    while (!signal.aborted) {
      try {
        await this.follow(signal);
      } catch (error) {
        if (!signal.aborted)
          log.warn({ err: toAppError(error) }, "the table of copies can't be followed for now");
      }
      await clock.sleep(TICK_MS, AbortSignal.any([signal, this.#wake.signal]));
      this.#wake = new AbortController();
    }
  }

  /** Takes a step towards the table. */
  async follow(signal: AbortSignal): Promise<void> {
    const { view, membership, places, catchUp } = this.#options;
    if (!membership.isValid || !(places || view.isPlaced)) return;
    const { session } = membership;
    if (this.#caughtUp !== session) {
      // Its copies may be far behind until then: others must not rely on them.
      await catchUp(signal);
      this.#caughtUp = session;
    }
    await this.#publish(signal);
    if (!view.isPlaced) return;
    await this.#giveUp(signal);
    const wanted = this.#missing();
    if (wanted !== undefined) await this.#take(wanted, signal);
  }

  async #take(shard: NamedShard, signal: AbortSignal): Promise<void> {
    const { view, take, live, node, log } = this.#options;
    const sources = live().filter((id) => id !== node && view.has(id, shard.uuid, shard.shard));
    if (sources.length === 0) return this.#later(shard);
    this.#taking = shard;
    try {
      await take(shard, sources, signal);
      this.#notBefore.delete(keyOf(shard));
      await this.#publish(signal);
    } catch (error) {
      this.#later(shard);
      if (!signal.aborted)
        log.warn({ err: toAppError(error), ...shard }, "a shard can't be copied here for now");
    } finally {
      this.#taking = undefined;
    }
  }

  /** The first shard that this hub should have but doesn't. */
  #missing(): NamedShard | undefined {
    const { view, shards, node } = this.#options;
    return this.#all().find((each) => {
      if (shards.hasShard(each.uuid, each.shard) || this.#isLater(each)) return false;
      return view.holders(each.uuid, each.shard)?.includes(node) ?? true;
    });
  }

  /**
   * Drops shards that others have instead. First publishes that this hub no longer has them, then reads the table and the
   * other hubs' entries again: of two hubs that see different tables, one finds that the other has given the shard up.
   * Finally each of the other holders confirms that it has the shard.
   */
  async #giveUp(signal: AbortSignal): Promise<void> {
    const { shards, membership, refresh, log } = this.#options;
    const going = this.#all().filter(
      (each) => shards.hasShard(each.uuid, each.shard) && !this.#isLater(each) && this.#isDroppable(each),
    );
    if (going.length === 0) return;
    for (const each of going) this.#leaving.add(keyOf(each));
    let dropped = 0;
    try {
      await this.#publish(signal);
      await refresh();
      // One position for all, so that the others commit once; they read later messages from the log.
      const { position } = shards;
      for (const each of going) {
        const isSure =
          membership.isValid && this.#isDroppable(each) && (await this.#isConfirmed(each, position, signal));
        signal.throwIfAborted();
        if (!isSure || !membership.isValid || !this.#isDroppable(each)) {
          this.#later(each);
          continue;
        }
        await shards.drop(each.uuid, each.shard);
        dropped++;
      }
    } finally {
      this.#leaving.clear();
      if (dropped > 0) log.info({ shards: dropped }, "shards that other hubs have were dropped");
      if (!signal.aborted) await this.#publish(signal);
    }
  }

  /**
   * True if the table assigns all copies of a shard to others, and all of them are live and have it. While it names fewer
   * holders than wanted, the next table may assign a copy to this hub, which is live.
   */
  #isDroppable({ uuid, shard }: NamedShard): boolean {
    const { view, node, replicas } = this.#options;
    const holders = view.holders(uuid, shard);
    if (holders === undefined || holders.length === 0 || holders.includes(node)) return false;
    return holders.length > replicas(uuid) && holders.every((id) => view.has(id, uuid, shard));
  }

  /** True if each hub of the table confirms that it has everything of the shard that this hub had at a position. */
  async #isConfirmed(shard: NamedShard, position: Position, signal: AbortSignal): Promise<boolean> {
    const { view, confirm } = this.#options;
    const holders = view.holders(shard.uuid, shard.shard) ?? [];
    const answers = await Promise.all(holders.map((id) => confirm(id, shard, position, signal)));
    return answers.length > 0 && answers.every((answer) => answer);
  }

  async #publish(signal: AbortSignal): Promise<void> {
    const { shards, membership, publish, view, node } = this.#options;
    const { session } = membership;
    const here = (await shards.holdings(signal)).filter((each) => !this.#leaving.has(keyOf(each)));
    const held: HeldCopies = {
      session,
      shards: numbersOf(here.filter(({ isWhole }) => isWhole)),
      partial: numbersOf(here.filter(({ isWhole }) => !isWhole)),
    };
    const isStored = this.#published !== undefined && view.hasPublished(node, session);
    if (isStored && sameHeld(this.#published!, held)) return;
    signal.throwIfAborted();
    this.#published = undefined;
    await publish(held);
    this.#published = held;
  }

  #all(): NamedShard[] {
    return this.#options
      .indices()
      .flatMap(({ uuid, shards }) => Array.from({ length: shards }, (_, shard) => ({ uuid, shard })));
  }

  #later(shard: NamedShard): void {
    this.#notBefore.set(keyOf(shard), this.#options.clock.monotonic() + AGAIN_MS);
  }

  #isLater(shard: NamedShard): boolean {
    const untilMs = this.#notBefore.get(keyOf(shard));
    if (untilMs === undefined) return false;
    if (untilMs > this.#options.clock.monotonic()) return true;
    this.#notBefore.delete(keyOf(shard));
    return false;
  }
}

/** Returns the numbers of shards by uuid, both sorted. */
function numbersOf(shards: readonly NamedShard[]): HeldCopies["shards"] {
  const byIndex = Map.groupBy(shards, ({ uuid }) => uuid);
  const numbers = [...byIndex].map(
    ([uuid, all]) => [uuid, all.map(({ shard }) => shard).toSorted((a, b) => a - b)] as const,
  );
  return Object.fromEntries(numbers.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function keyOf({ uuid, shard }: NamedShard): string {
  return shardKey(uuid, shard);
}
