/**
 * A fourth hub joins three and one of them is drained, both under load: clients that repeat a request once at another hub see
 * no error, every answer is whole, and no line is lost or doubled.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { untilShared } from "#test/harness/cluster.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { ask } from "#test/harness/http.ts";
import { writeInBursts } from "#test/harness/line-writer.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { count, LOGS, refreshed } from "#test/harness/search.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { type Node, startWorld } from "./cluster-world.ts";

const FILES = 8;
/** Lines per second of each file. */
const RATE = 60;
const SETTLED_MS = 180_000;
const PAUSE_MS = 20;
/** How long a client waits for an answer before it asks another hub. */
const TIMEOUT_MS = 15_000;
/** Load before, between and after what happens. */
const STEADY_MS = 3_000;

interface Reply {
  readonly status: number;
  readonly body: { readonly _shards?: { readonly failed: number } };
}

/** Clients of a load balancer that repeats a request once, at another hub. */
class Clients {
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
function untilGreen({ hub }: Node, nodes: number): Promise<unknown> {
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

async function joinAndDrain(t: TestContext, copies: "all" | "replicas"): Promise<void> {
  const seed = chooseSeed();
  const random = randomFrom(seed);
  const hint = `(repeat with --seed ${seed})`;
  const workspace = new Workspace(t);
  const logs = Array.from({ length: FILES }, (_, at) => new SequenceLog(`file-${at}`));
  const paths = logs.map((log) => workspace.path("logs", `${log.writer}.log`));
  const world = await startWorld(workspace, 3, paths, { "cluster.copies": copies });
  const [drained, ...stay] = world.nodes as [Node, ...Node[]];
  await ask("PUT", `${drained.hub.searchUrl}/created`, {
    settings: { number_of_shards: 3, number_of_replicas: 1 },
  });
  await Promise.all(
    logs.map((log, at) => writeInBursts({ log, path: paths[at]!, lines: 20, random, rate: RATE })),
  );
  await until("the first lines", async () => (await count(drained.hub.searchUrl)) === FILES * 20);
  await untilGreen(drained, 3);

  const clients = new Clients(world.nodes, randomFrom(seed + 1));
  const end = new AbortController();
  const working = clients.run(end.signal);
  const changing = (async () => {
    await systemClock.sleep(STEADY_MS);
    const fourth = await world.startNode(4);
    await untilShared(
      [...world.nodes, fourth].map(({ hub }) => hub),
      SETTLED_MS,
    );
    await untilGreen(fourth, 4);
    clients.nodes.push(fourth);
    await systemClock.sleep(STEADY_MS);
    await drained.hub.stop();
    await untilShared(
      [...stay, fourth].map(({ hub }) => hub),
      SETTLED_MS,
    );
    clients.nodes.splice(clients.nodes.indexOf(drained), 1);
    await systemClock.sleep(STEADY_MS);
    return [...stay, fourth];
  })().finally(() => end.abort());
  const lines = (SETTLED_MS / 1_000) * RATE;
  const writing = logs.map((log, at) =>
    writeInBursts({ log, path: paths[at]!, lines, random, rate: RATE, until: changing }),
  );
  const left = await changing;
  await Promise.all([working, ...writing]);
  t.diagnostic(
    `seed ${seed}, ${world.servers.length} nats-servers, ${clients.requests} requests, ${clients.errors.length} errors, ${clients.created.length} created`,
  );
  assert.deepEqual(clients.errors, [], hint);
  for (const { hub } of left) {
    await assertExactlyOnce(hub.searchUrl, logs, hint);
    await refreshed(hub.searchUrl, "created");
    assert.equal(await count(hub.searchUrl, undefined, "created"), clients.created.length, hint);
  }
}

for (const copies of ["all", "replicas"] as const)
  test(`clients that repeat a request once see no error when a hub joins and another is drained, with ${copies}`, (t) =>
    joinAndDrain(t, copies));
