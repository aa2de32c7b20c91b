/**
 * Clients of a cluster behind a load balancer: each request goes to a hub, and to the next one where that one doesn't
 * answer. They remember what was acknowledged.
 */

import { systemClock } from "#proto/kit/clock.ts";
import type { Node } from "./cluster-world.ts";
import { FoundLines, type LinesAnswer } from "./found-lines.ts";

/** A hub that stands still doesn't close its connections. */
const TIMEOUT_MS = 5_000;
const PAUSE_MS = 20;
/** Rounds over all hubs until a write is given up as unknown. */
const ROUNDS = 4;
const ROUND_PAUSE_MS = 1_000;

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly node: Node;
}

/** A load balancer with the hubs in the order in which they are tried. */
export class Clients {
  readonly #nodes: readonly Node[];
  readonly #random: () => number;
  /** Documents that were acknowledged as created. */
  readonly created = new Set<string>();
  /** Highest acknowledged version by document. */
  readonly versions = new Map<string, number>();
  /** Acknowledged and unknown increments by counter. */
  readonly counters = new Map<string, { acknowledged: number; unknown: number }>();
  searches = 0;
  /** Searches that no hub answered, with the time and what each hub said. */
  readonly unanswered: string[] = [];
  /** What must not be: documents that went back, what was found or acknowledged and a later search doesn't find. */
  readonly wrong: string[] = [];
  readonly found = new FoundLines();
  #next = 0;

  constructor(nodes: readonly Node[], random: () => number) {
    this.#nodes = nodes;
    this.#random = random;
  }

  /** Writes and searches until `signal` is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const loops = [
      ...[0, 1].map((writer) => () => this.#putVersion(`v-${writer}-${Math.floor(this.#random() * 20)}`)),
      ...[0, 1].map((writer) => () => this.#create(`c-${writer}-${this.#next++}`)),
      ...[0, 1].map(() => () => this.#increment(`n-${Math.floor(this.#random() * 3)}`)),
      ...[0, 1].map(() => () => this.#search()),
    ];
    await Promise.all(
      loops.map(async (loop) => {
        while (!signal.aborted) {
          await loop();
          await systemClock.sleep(PAUSE_MS, signal);
        }
      }),
    );
  }

  async #putVersion(id: string): Promise<void> {
    const version = (this.versions.get(id) ?? 0) + 1;
    const path = `/versions/_doc/${id}?version=${version}&version_type=external`;
    const reply = await this.#write("PUT", path, { n: version });
    if (reply === undefined) return; // the same version is tried again by the next call
    if (reply.status === 409 && (await this.#readVersion(id, reply.node)) !== version) return;
    if (reply.status < 300 || reply.status === 409) this.versions.set(id, version);
    else this.wrong.push(`PUT ${path} answered ${reply.status} ${JSON.stringify(reply.body)}`);
  }

  async #readVersion(id: string, node: Node): Promise<number | undefined> {
    const reply = await this.#ask(node, "GET", `/versions/_doc/${id}`);
    const known = this.versions.get(id) ?? 0;
    const found = reply?.body["_version"] as number | undefined;
    if (reply?.status === 200 && found! < known)
      this.wrong.push(`${id} of ${node.name} went back to ${found}`);
    return found;
  }

  async #create(id: string): Promise<void> {
    const isRead = this.#random() < 0.2;
    const path = `/created/_doc/${id}/_create${isRead ? "?refresh=true" : ""}`;
    const reply = await this.#write("PUT", path, { n: 1 });
    if (reply === undefined) return;
    if (reply.status !== 201 && reply.status !== 409) {
      this.wrong.push(`PUT ${path} answered ${reply.status} ${JSON.stringify(reply.body)}`);
      return;
    }
    this.created.add(id);
    if (isRead && reply.status === 201) await this.#find(id, reply.node);
  }

  /** A search on another hub finds what was refreshed on this one, as long as no fault concerns either. */
  async #find(id: string, writer: Node): Promise<void> {
    const isReached = ({ reachedMs }: Node): boolean => systemClock.monotonic() >= reachedMs;
    const reader = this.#nodes.find((node) => node !== writer && isReached(node));
    if (reader === undefined || !isReached(writer)) return;
    const query = { query: { ids: { values: [id] } } };
    const reply = await this.#ask(reader, "POST", "/created/_search", query);
    const { total } = (reply?.body["hits"] ?? {}) as { total?: number };
    if (reply?.status === 200 && total !== 1 && isReached(reader) && isReached(writer))
      this.wrong.push(`${id}, refreshed on ${writer.name}, isn't found on ${reader.name}`);
  }

  /** Reads a counter and writes it with one more, on condition that nobody else has. */
  async #increment(id: string): Promise<void> {
    const node = this.#pick();
    const found = await this.#ask(node, "GET", `/counters/_doc/${id}`);
    const { _version: version, _source: source } = (found?.body ?? {}) as {
      _version?: number;
      _source?: { n: number };
    };
    if (found?.status !== 200 && found?.status !== 404) return;
    const condition = version === undefined ? "op_type=create" : `version=${version}`;
    const reply = await this.#ask(node, "PUT", `/counters/_doc/${id}?${condition}`, {
      n: (source?.n ?? 0) + 1,
    });
    const counter = this.counters.get(id) ?? { acknowledged: 0, unknown: 0 };
    this.counters.set(id, counter);
    if (reply !== undefined && reply.status < 300) counter.acknowledged++;
    else if (reply?.status !== 409) counter.unknown++;
  }

  async #search(): Promise<void> {
    const body = { size: 10, query: { match_all: {} }, aggs: { hosts: { terms: { field: "host.name" } } } };
    this.searches++;
    const said: string[] = [];
    for (const node of this.#order()) {
      const begunMs = systemClock.monotonic();
      const reply = await this.#ask(node, "POST", "/logs-*/_search", body);
      if (reply?.status !== 200) {
        const text =
          reply === undefined ? "nothing" : `${reply.status} ${JSON.stringify(reply.body).slice(0, 200)}`;
        said.push(`${node.name}: ${text} after ${Math.round(systemClock.monotonic() - begunMs)} ms`);
        continue;
      }
      const answer = reply.body as unknown as LinesAnswer;
      const fault = this.found.fault(node, answer, begunMs, systemClock.monotonic());
      if (fault !== undefined) this.wrong.push(`${new Date().toISOString()} ${fault}`);
      return;
    }
    this.unanswered.push(`${new Date().toISOString()} ${said.join("; ")}`);
  }

  /** Repeats a write until a hub answers whether it was done; undefined where none does. */
  async #write(method: string, path: string, body: unknown): Promise<Reply | undefined> {
    for (let round = 0; round < ROUNDS; round++) {
      for (const node of this.#order()) {
        const reply = await this.#ask(node, method, path, body);
        if (reply !== undefined && reply.status < 500 && reply.status !== 429 && reply.status !== 408)
          return reply;
      }
      await systemClock.sleep(ROUND_PAUSE_MS);
    }
    return undefined;
  }

  #pick(): Node {
    return this.#nodes[Math.floor(this.#random() * this.#nodes.length)]!;
  }

  #order(): Node[] {
    const first = Math.floor(this.#random() * this.#nodes.length);
    return [...this.#nodes.slice(first), ...this.#nodes.slice(0, first)];
  }

  /** Returns undefined where the hub doesn't answer. */
  async #ask(node: Node, method: string, path: string, body?: unknown): Promise<Reply | undefined> {
    try {
      const response = await fetch(node.hub.searchUrl + path, {
        method,
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...(body === undefined
          ? {}
          : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Reply["body"], node };
    } catch {
      return undefined;
    }
  }
}
