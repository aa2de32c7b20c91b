/**
 * The search interface under malformed requests and broken connections: every answer is a well-formed 2xx or a 4xx with
 * a reason, and the hub neither ends nor keeps anything of them. For as long as TAILRACE_FUZZ_SECONDS says;
 * TAILRACE_SEED repeats a run.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { PipelinedHttp, type PlainAnswer, type PlainRequest } from "#test/harness/pipelined-http.ts";
import { chooseSeed } from "#test/harness/random.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { WORST_SEARCHES, worstDocuments } from "#test/hostile/worst-searches.ts";
import { Random } from "#test/support/engine/random.ts";
import { faultOf, hasFilter } from "./api-answers.ts";
import { costLine, SlowRequests } from "./api-clock.ts";
import { isTooLarge, measuresPeaks, memoryCosts, memoryLine } from "./api-memory.ts";
import { malformedRequest } from "./api-requests.ts";
import { sweptRequests } from "./api-sweep.ts";
import { brokenConversation, converse, faultOfConversation } from "./api-wire.ts";

const DURATION_MS = Number(process.env["TAILRACE_FUZZ_SECONDS"] ?? 3) * 1000;
/** Connections, and requests under way on each. */
const CONNECTIONS = 4;
const IN_FLIGHT = 8;
/** Connections of requests that may take long, and how many are under way: others wait for none of them. */
const DEAR_CONNECTIONS = 4;
const DEAR_UNDER_WAY = 16;
/** Faults that a run reports. */
const MAX_FAULTS = 20;
/** Nothing that is asked may take as long. */
const ANSWER_MS = 20_000;
/** What the hub may grow by: its caches fill, and the collector takes its time. */
const MAX_GROWTH_BYTES = 400 * 1024 * 1024;
/** No request may hold a thread of the hub for as long; what a busy machine adds is in it. */
const MAX_HELD_MS = 250;

/** Documents that the worst searches walk. */
const WORST_DOCUMENTS = 20_000;
/** Written at a time. */
const BULK_DOCUMENTS = 5_000;

const workspace = new Workspace();
const slow = new SlowRequests();
let hub: TestHub;
let clients: readonly PipelinedHttp[] = [];
let dearClients: readonly PipelinedHttp[] = [];

before(async () => {
  hub = await startHub({ dataDir: workspace.path("data", "hub") });
  const connect = (): PipelinedHttp => new PipelinedHttp(hub.searchUrl, ANSWER_MS);
  clients = Array.from({ length: CONNECTIONS }, connect);
  dearClients = Array.from({ length: DEAR_CONNECTIONS }, connect);
  for (let n = 0; n < 20; n++) {
    const document = {
      n,
      level: n % 2 === 0 ? "info" : "error",
      message: `line ${n}`,
      at: "2026-01-01T00:00:00Z",
    };
    await send({
      method: "PUT",
      path: `/lines/_doc/${n}`,
      headers: JSON_TYPE,
      body: JSON.stringify(document),
    });
  }
  await send({ method: "POST", path: "/lines/_refresh", headers: {}, body: "" });
});
after(async () => {
  for (const client of [...clients, ...dearClients]) client.close();
  await hub?.stop();
  await workspace.close();
});

const JSON_TYPE = { "content-type": "application/json" };

test("each part of a search may be missing or odd", async () => {
  const faults = new Faults();
  const requests = sweptRequests();
  const lane = async (client: PipelinedHttp): Promise<void> => {
    for (const asked of requests) await faults.judge(client, asked);
  };
  await Promise.all(clients.flatMap((client) => Array.from({ length: IN_FLIGHT }, () => lane(client))));
  assert.deepEqual(faults.found, []);
  assert.ok(hub.running, "the hub runs");
});

test("malformed requests are refused with a reason or answered, never with a 5xx", async (context) => {
  const seed = chooseSeed();
  const end = Date.now() + DURATION_MS;
  const faults = new Faults();
  let sent = 0;
  const memory = (await figure("process_resident_memory_bytes")) ?? 0;
  const dear = new Set<Promise<void>>();
  const lane = async (client: PipelinedHttp): Promise<void> => {
    while (Date.now() < end) {
      const number = sent++;
      const asked = malformedRequest(new Random(scattered(seed + number)));
      if (!asked.dear) {
        await faults.judge(client, asked);
        continue;
      }
      while (dear.size >= DEAR_UNDER_WAY) await Promise.race(dear);
      const judged = faults.judge(dearClients[number % DEAR_CONNECTIONS]!, asked);
      dear.add(judged);
      void judged.then(() => dear.delete(judged));
    }
  };
  const wire = brokenConversations(seed, end, faults);
  await Promise.all(clients.flatMap((client) => Array.from({ length: IN_FLIGHT }, () => lane(client))));
  await Promise.all(dear);
  context.diagnostic(`${await wire} broken conversations, ${sent} requests: ${faults.statuses}`);
  assert.deepEqual(faults.found, [], `TAILRACE_SEED=${seed}`);
  assert.ok(hub.running, "the hub runs");
  const grown = ((await figure("process_resident_memory_bytes")) ?? 0) - memory;
  assert.ok(grown < MAX_GROWTH_BYTES, `TAILRACE_SEED=${seed}: the hub grew by ${grown} bytes`);
  await nothingIsHeld();
  assert.deepEqual(loggedErrors(), [], `TAILRACE_SEED=${seed}`);
  const { status } = await send({ method: "GET", path: "/lines/_search", headers: {}, body: "" });
  assert.equal(status, 200);
  const costs = await slow.replay((asked) => clients[0]!.send(asked), longestTurnMs);
  context.diagnostic(`requests that hold a thread longest:\n${costs.map(costLine).join("\n")}`);
  const long = costs.filter(({ heldMs }) => heldMs > MAX_HELD_MS).map(costLine);
  assert.deepEqual(long, [], `TAILRACE_SEED=${seed}: requests hold a thread too long`);
});

test("no request takes more memory than its limit", async (context) => {
  if (!measuresPeaks(hub)) {
    context.skip("the system sets no peaks of memory back: nothing was measured");
    return;
  }
  for (const client of [...clients, ...dearClients]) client.close();
  // What the requests before have left behind would hide what one takes.
  await hub.stop();
  await hub.start();
  for (let first = 0; first < WORST_DOCUMENTS; first += BULK_DOCUMENTS) {
    const body = worstDocuments(first, first + BULK_DOCUMENTS);
    const written = await fetch(`${hub.searchUrl}/worst/_doc/_bulk`, {
      method: "POST",
      headers: JSON_TYPE,
      body,
    });
    assert.match(await written.text(), /"errors":false/);
  }
  await fetch(`${hub.searchUrl}/worst/_refresh`, { method: "POST" });
  const worst = WORST_SEARCHES.map(({ path, body }) => ({
    method: "POST",
    path,
    headers: JSON_TYPE,
    body: typeof body === "string" ? body : JSON.stringify(body),
  }));
  const costs = await memoryCosts(hub, [...slow.requests, ...worst]);
  context.diagnostic(`requests that take most memory:\n${costs.map(memoryLine).join("\n")}`);
  assert.deepEqual(costs.filter(isTooLarge).map(memoryLine), [], "requests take too much memory");
  assert.ok(hub.running, "the hub runs");
});

/** What was wrong with answers, the same fault once. */
class Faults {
  readonly #counts = new Map<number, number>();
  readonly #kinds = new Map<string, string>();

  get found(): string[] {
    return [...this.#kinds.values()];
  }

  /** Answers by status. */
  get statuses(): string {
    return JSON.stringify(Object.fromEntries([...this.#counts].sort(([a], [b]) => a - b)));
  }

  /** Sends a request and looks at its answer. Never rejects: an answer that doesn't come is a fault. */
  async judge(client: PipelinedHttp, asked: PlainRequest): Promise<void> {
    try {
      const startMs = performance.now();
      let answer = await client.send(asked);
      slow.saw(asked, performance.now() - startMs);
      this.#counts.set(answer.status, (this.#counts.get(answer.status) ?? 0) + 1);
      // The reason may be what was filtered out.
      if (answer.status >= 500 && hasFilter(asked.path))
        answer = await client.send({ ...asked, path: asked.path.replaceAll("filter_path", "human") });
      const fault = faultOf(asked, answer);
      if (fault !== undefined) this.add(answer.text.slice(0, 200), fault, asked, answer.text);
    } catch (error) {
      this.add("no answer", (error as Error).message, asked);
    }
  }

  /** `kind`: the same fault of another request isn't news, nor are other numbers in it. */
  add(kind: string, fault: string, asked: unknown, answer = ""): void {
    const key = kind.replace(/\d+/g, "0");
    if (this.#kinds.size >= MAX_FAULTS || this.#kinds.has(key)) return;
    this.#kinds.set(key, `${fault}\n${JSON.stringify(asked).slice(0, 1500)}\n${answer.slice(0, 800)}`);
  }
}

/** Connections whose requests aren't HTTP, one after the other; returns how many. */
async function brokenConversations(seed: number, end: number, faults: Faults): Promise<number> {
  let count = 0;
  for (; Date.now() < end; count++) {
    const text = brokenConversation(new Random(scattered(seed + count)));
    const fault = await converse(hub.searchUrl, text, ANSWER_MS).then(faultOfConversation, String);
    if (fault !== undefined) faults.add(fault, fault, text);
  }
  return count;
}

/** A number far from those of neighbours: the generator's first numbers are alike where its seeds are. */
function scattered(number: number): number {
  const mixed = Math.imul(number ^ (number >>> 16), 0x45d9f3b);
  return Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b) >>> 0;
}

/** Resolves when no scroll, task and body is held. Tasks that nobody waits for may run on: they are told to end. */
async function nothingIsHeld(): Promise<void> {
  await send({ method: "DELETE", path: "/_search/scroll/_all", headers: {}, body: "" });
  await send({ method: "POST", path: "/_tasks/_cancel", headers: {}, body: "" });
  await until("the end of all tasks", async () => {
    const { text } = await send({ method: "GET", path: "/_tasks?actions=indices*", headers: {}, body: "" });
    return text === '{"nodes":{}}' || Promise.reject(new Error(text));
  });
  for (const held of ["tailrace_search_scroll_contexts", "tailrace_api_bodies_bytes"])
    await until(`0 as ${held}`, async () => (await figure(held)) === 0);
}

/** What an operator would have to act on: none of it is a client's doing. */
function loggedErrors(): string[] {
  return readFileSync(hub.logFile, "utf8")
    .split("\n")
    .filter((line) => line.includes('"level":"error"'))
    .slice(0, MAX_FAULTS);
}

/** A figure of the hub's metrics; undefined where it has none of that name. */
async function figure(name: string): Promise<number | undefined> {
  const response = await fetch(`${hub.dashboardUrl}/metrics`);
  const found = new RegExp(`^${name} (\\S+)`, "m").exec(await response.text())?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Returns the longest turn of any of the hub's threads since it was asked last, ms. */
async function longestTurnMs(): Promise<number> {
  const text = await (await fetch(`${hub.dashboardUrl}/metrics`)).text();
  const found = [...text.matchAll(/^tailrace_(?:hub|host)_longest_turn_seconds (\S+)$/gm)];
  assert.equal(found.length, 2, "the front and the hosts tell their longest turn");
  return Math.max(...found.map(([, seconds]) => Number(seconds) * 1_000));
}

function send(request: PlainRequest): Promise<PlainAnswer> {
  return clients[0]!.send(request);
}
