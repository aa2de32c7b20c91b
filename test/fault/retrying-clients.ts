/** Clients of a load balancer in front of a cluster whose hubs are changed one by one without a fault. */

import { systemClock } from "#proto/kit/clock.ts";
import { ask } from "#test/harness/http.ts";
import { LOGS } from "#test/harness/search.ts";
import { until } from "#test/harness/until.ts";
import type { Node } from "./cluster-world.ts";

/** Time in which all copies are where they are to be. */
export const SETTLED_MS = 180_000;
const PAUSE_MS = 20;
/** How long a client waits for an answer before it asks another hub. */
const TIMEOUT_MS = 15_000;

interface Reply {
  readonly status: number;
  readonly body: { readonly _shards?: { readonly failed: number } };
}

/** Clients of a load balancer that repeats a request once, at another hub. */
export class RetryingClients {
  readonly nodes: Node[];
  readonly created: string[] = [];
  readonly errors: string[] = [];
  requests = 0;
  readonly #random: () => number;

  constructor(nodes: readonly Node[], random: () => number) {
    this.nodes = [...nodes];
    this.#random = random;
  }

  /** Works until `signal` is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const search = { query: { match_all: {} }, aggs: { hosts: { terms: { field: "host.name" } } } };
    const works = [0, 1].flatMap((client) => [
      (n: number) => this.#create(`${client}-${n}`),
      () => this.#twice("POST", `/${LOGS}/_search`, search, ({ status }) => status === 200),
      () => this.#twice("POST", "/created/_search", {}, ({ status }) => status === 200),
    ]);
    await Promise.all(
      works.map(async (work) => {
        for (let n = 0; !signal.aborted; n++) {
          await work(n);
          await systemClock.sleep(PAUSE_MS, signal);
        }
      }),
    );
  }

  async #create(id: string): Promise<void> {
    // A write whose answer was lost has been done: the second attempt meets it.
    const isDone = ({ status }: Reply): boolean => status === 201 || status === 409;
    if (await this.#twice("PUT", `/created/_doc/${id}/_create`, { n: 1 }, isDone)) this.created.push(id);
  }

  async #twice(
    method: string,
    path: string,
    body: object,
    isRight: (reply: Reply) => boolean,
  ): Promise<boolean> {
    this.requests++;
    const first = this.#pick(this.nodes);
    const second = this.#pick(this.nodes.filter((node) => node !== first));
    const failed: string[] = [];
    for (const node of [first, second]) {
      const reply = await send(node, method, path, body);
      if (typeof reply !== "string" && isRight(reply) && (reply.body._shards?.failed ?? 0) === 0) return true;
      failed.push(
        `${node.name}: ${typeof reply === "string" ? reply : `${reply.status} ${JSON.stringify(reply.body).slice(0, 300)}`}`,
      );
    }
    this.errors.push(`${new Date().toISOString()} ${method} ${path}: ${failed.join("; ")}`);
    return false;
  }

  #pick(nodes: readonly Node[]): Node {
    return nodes[Math.floor(this.#random() * nodes.length)]!;
  }
}

/** Returns why there is no answer as text. */
async function send({ hub }: Node, method: string, path: string, body: object): Promise<Reply | string> {
  try {
    const response = await fetch(hub.searchUrl + path, {
      method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, body: (await response.json()) as Reply["body"] };
  } catch (error) {
    return String(error);
  }
}

/** Resolves when the copies are where they are to be. */
export function untilGreen({ hub }: Node, nodes: number): Promise<unknown> {
  const wait = "wait_for_status=green&wait_for_no_relocating_shards=true&timeout=1s";
  return until(
    "a green cluster",
    async () => {
      type Health = { timed_out: boolean; number_of_nodes: number };
      const health = await ask<Health>("GET", `${hub.searchUrl}/_cluster/health?${wait}`).catch(
        () => undefined,
      );
      return health?.timed_out === false && health.number_of_nodes === nodes;
    },
    { deadlineMs: SETTLED_MS },
  );
}
