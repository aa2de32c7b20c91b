/**
 * Sends the calls of a search to other hubs early. The merging host, which combines the results of all hubs, sends them
 * only once it has got and parsed the search; the front knows the shards of other hubs before that and sends the same
 * calls itself. If the host then sends the same call, byte for byte, it gets the answer that is under way; any other call
 * is sent as usual.
 */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { ONLY_HOST } from "#hub/cluster/shards/shard-owner.ts";
import type { AskHub } from "#hub/host/client/host-threads.ts";
import { describe, type HostsShards, placed, ShardsByHost } from "#hub/host/contract/called-shards.ts";
import { addressKey, type HubThread, type SearchCall } from "#hub/host/contract/calls.ts";
import { demandOf, optionsOf } from "#hub/host/contract/search-demand.ts";
import type { Message } from "#hub/host/wire/peer.ts";
import { closingCall, collectCall } from "#hub/search/phases/remote-host.ts";
import { encodeValue } from "#hub/search/wire/value-writer.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { KIB } from "#proto/kit/units.ts";

/** Larger questions aren't sent early: to make them takes the front longer than their way. Bytes, about. */
const MAX_BYTES = 32 * KIB;
/** Shards of other hubs; nothing is sent early for a search of more, for the same reason. */
const MAX_SHARDS = 200;

/** A question that was sent before the host asked. */
interface Early {
  readonly at: HubThread;
  readonly version: number;
  readonly answer: Promise<Required<Message>>;
  readonly ended: AbortController;
}

export interface EarlyCollectsOptions {
  readonly index: (uuid: string) => IndexMetadata | undefined;
  readonly askHub: AskHub;
  /** Returns false while a thread of this hub is restarting: answers would wait for it, and what other hubs keep would expire. */
  readonly isServing: () => boolean;
  readonly metrics: Metrics;
}

export class EarlyCollects {
  readonly #options: EarlyCollectsOptions;
  readonly #sent: Counter;
  readonly #taken: Counter;
  /** Questions that no host has asked yet, by their address and payload. Equal ones are interchangeable. */
  readonly #waiting = new Map<string, Early[]>();

  constructor(options: EarlyCollectsOptions) {
    this.#options = options;
    this.#sent = options.metrics.counter(
      "tailrace_cluster_early_questions_total",
      "questions of searches that were sent to other hubs before the merging thread asked them",
    );
    this.#taken = options.metrics.counter(
      "tailrace_cluster_early_questions_taken_total",
      "those of tailrace_cluster_early_questions_total that the merging thread asked then",
    );
  }

  /**
   * Returns the result of `search`, which sends `call` to the merging host. Questions that it didn't ask are cancelled; what
   * the other hubs keep after their answers is closed.
   */
  async during<T>(call: SearchCall, signal: AbortSignal, search: () => Promise<T>): Promise<T> {
    if (!isSentEarly(call) || !this.#options.isServing()) return search();
    const over = new AbortController();
    const end = (): void => over.abort();
    signal.addEventListener("abort", end, { once: true });
    try {
      const answer = search();
      this.#trySend(call, over.signal);
      return await answer;
    } finally {
      signal.removeEventListener("abort", end);
      end();
    }
  }

  /** Answers a question of a host. See AskHub. */
  ask(...[at, operation, message, signal]: Parameters<AskHub>): ReturnType<AskHub> {
    const [payload] = message.parts;
    const early =
      operation === "asked" && message.value === "collect" && payload !== undefined && this.#waiting.size > 0
        ? this.#take(keyOf(at, payload))
        : undefined;
    if (early === undefined) return this.#options.askHub(at, operation, message, signal);
    this.#taken.inc();
    if (signal.aborted) this.#end(early);
    signal.addEventListener("abort", () => this.#end(early), { once: true });
    return early.answer;
  }

  #trySend(call: SearchCall, signal: AbortSignal): void {
    try {
      this.#send(call, signal);
    } catch {
      // The merging host says what is wrong with the call.
    }
  }

  #send(call: SearchCall, signal: AbortSignal): void {
    if (signal.aborted || !isSmall(call.body)) return;
    const demand = demandOf(call.body, optionsOf(call));
    for (const { address, shards } of this.#elsewhere(call)) {
      const asked = collectCall({ ...demand, shards });
      if (isSmall(asked)) this.#ask(address as HubThread, encodeValue(asked), demand.version, signal);
    }
  }

  #ask(at: HubThread, payload: Uint8Array, version: number, signal: AbortSignal): void {
    const ended = new AbortController();
    const message = { value: "collect", parts: [payload] };
    const answer = this.#options.askHub(at, "asked", message, ended.signal);
    answer.catch(() => undefined);
    this.#sent.inc();
    const early: Early = { at, version, answer, ended };
    const key = keyOf(at, payload);
    const same = this.#waiting.get(key);
    if (same === undefined) this.#waiting.set(key, [early]);
    else same.push(early);
    signal.addEventListener(
      "abort",
      () => {
        if (this.#drop(key, early)) this.#end(early);
      },
      { once: true },
    );
  }

  /** Cancels a question that nobody waits for. If its answer came already, what the other hub keeps is closed. */
  #end({ at, version, answer, ended }: Early): void {
    ended.abort();
    const close = async (): Promise<void> => {
      const call = closingCall((await answer).parts[0]!, version);
      if (call === undefined) return;
      const message = { value: "close", parts: [encodeValue(call)] };
      await this.#options.askHub(at, "asked", message, new AbortController().signal);
    };
    void close().catch(() => undefined);
  }

  #take(key: string): Early | undefined {
    const early = this.#waiting.get(key)?.[0];
    if (early !== undefined) this.#drop(key, early);
    return early;
  }

  /** Returns false if a host has asked the question. */
  #drop(key: string, early: Early): boolean {
    const same = this.#waiting.get(key);
    const at = same?.indexOf(early) ?? -1;
    if (same === undefined || at < 0) return false;
    same.splice(at, 1);
    if (same.length === 0) this.#waiting.delete(key);
    return true;
  }

  /** Returns the hosts at which the merging host will collect. */
  #elsewhere({ targets }: SearchCall): readonly HostsShards[] {
    const others = new ShardsByHost();
    let order = 0;
    let own = 0;
    for (const target of targets) {
      const index = this.#options.index(target.uuid);
      if (index === undefined) continue;
      const count = index.settings.numberOfShards;
      const described = describe(target, index, count, {});
      for (const { shard, at } of placed(ONLY_HOST, target, count))
        if (typeof at === "object") others.add(at, described(shard, order));
        else own++;
      order += count;
    }
    const all = others.all();
    // Where one host has all shards, the merging host leaves the whole search to it.
    return own === 0 && all.length === 1 ? [] : all;
  }
}

function keyOf(at: HubThread, payload: Uint8Array): string {
  const { buffer, byteOffset, length } = payload;
  return `${addressKey(at)} ${Buffer.from(buffer, byteOffset, length).toString("latin1")}`;
}

/** Returns whether other hubs have shards of a call, and the merging host asks for what the call says and nothing else. */
function isSentEarly({ body, targets, slice }: SearchCall): boolean {
  const isWhole = slice === undefined && body["collapse"] === undefined && body["suggest"] === undefined;
  if (!isWhole) return false;
  let away = 0;
  for (const { elsewhere = [] } of targets) for (const { shards } of elsewhere) away += shards.length;
  return away > 0 && away <= MAX_SHARDS;
}

function isSmall(value: unknown): boolean {
  return remainingAfter(value, MAX_BYTES) >= 0;
}

/** Returns what is left of `room` after a value; walks no further where that is negative. */
function remainingAfter(value: unknown, room: number): number {
  if (typeof value === "string") return room - 1 - value.length;
  if (typeof value !== "object" || value === null) return room - 5;
  if (ArrayBuffer.isView(value)) return room - value.byteLength;
  let left = room - 2;
  for (const each of Array.isArray(value) ? (value as unknown[]) : Object.values(value)) {
    if (left < 0) return left;
    left = remainingAfter(each, left - 1);
  }
  return left;
}
