/**
 * The search interface under malformed requests and broken connections: every answer is a well-formed 2xx or a 4xx with
 * a reason, and the hub neither ends nor keeps anything of them. For as long as TAILRACE_FUZZ_SECONDS says;
 * TAILRACE_SEED repeats a run.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Random } from "#hub/engine/random.test-support.ts";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { PipelinedHttp, type PlainAnswer, type PlainRequest } from "#test/harness/pipelined-http.ts";
import { chooseSeed } from "#test/harness/random.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { malformedRequest } from "./api-requests.ts";
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

const workspace = new Workspace();
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

test("malformed requests are refused with a reason or answered, never failed on", async (context) => {
  const seed = chooseSeed();
  const end = Date.now() + DURATION_MS;
  const before = await contexts();
  let sent = 0;
  const statuses = new Map<number, number>();
  const faults = new Map<string, string>();
  const one = async (client: PipelinedHttp, asked: PlainRequest): Promise<void> => {
    const { status, text } = await client.send(asked);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const fault = faultOf(asked, status, text);
    if (fault === undefined || faults.size >= MAX_FAULTS) return;
    // The same fault by another request isn't news.
    const kind = text.slice(0, 200).replace(/\d+/g, "0");
    if (!faults.has(kind))
      faults.set(kind, `${fault}\n${JSON.stringify(asked).slice(0, 1500)}\n${text.slice(0, 800)}`);
  };
  const memory = await residentBytes();
  const dear = new Set<Promise<void>>();
  const lane = async (client: PipelinedHttp): Promise<void> => {
    while (Date.now() < end) {
      const number = sent++;
      const asked = malformedRequest(new Random(scattered(seed + number)));
      if (!asked.dear) {
        await one(client, asked);
        continue;
      }
      while (dear.size >= DEAR_UNDER_WAY) await Promise.race(dear);
      const answered = one(dearClients[number % DEAR_CONNECTIONS]!, asked)
        .catch((error: Error) => void faults.set(error.message, error.message))
        .finally(() => dear.delete(answered));
      dear.add(answered);
    }
  };
  const wire = brokenConversations(seed, end, faults);
  await Promise.all(clients.flatMap((client) => Array.from({ length: IN_FLIGHT }, () => lane(client))));
  await Promise.all(dear);
  context.diagnostic(
    `${await wire} broken conversations, ${sent} requests: ${JSON.stringify(Object.fromEntries([...statuses].sort(([a], [b]) => a - b)))}`,
  );
  assert.deepEqual([...faults.values()], [], `TAILRACE_SEED=${seed}`);
  assert.ok(hub.running, "the hub runs");
  assert.ok((await residentBytes()) - memory < MAX_GROWTH_BYTES, "the hub's memory stays");
  await send({ method: "DELETE", path: "/_search/scroll/_all", headers: {}, body: "" });
  assert.deepEqual(await contexts(), before);
  const { status } = await send({ method: "GET", path: "/lines/_search", headers: {}, body: "" });
  assert.equal(status, 200);
});

/** Connections whose requests are no HTTP, one after the other; returns how many. */
async function brokenConversations(seed: number, end: number, faults: Map<string, string>): Promise<number> {
  let count = 0;
  for (; Date.now() < end; count++) {
    const text = brokenConversation(new Random(scattered(seed + count)));
    const fault = await converse(hub.searchUrl, text, ANSWER_MS).then(faultOfConversation, String);
    if (fault !== undefined && faults.size < MAX_FAULTS)
      faults.set(fault, `${fault}\n${JSON.stringify(text).slice(0, 1500)}`);
  }
  return count;
}

/** A number far from those of neighbours: the generator's first numbers are alike where its seeds are. */
function scattered(number: number): number {
  const mixed = Math.imul(number ^ (number >>> 16), 0x45d9f3b);
  return Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b) >>> 0;
}

/** What is wrong with an answer; undefined: nothing. */
function faultOf({ method, path }: PlainRequest, status: number, text: string): string | undefined {
  // What isn't offered says so with 501; too much of a good thing with 503, as 6.5 does for buckets.
  const reasoned = status === 501 || (status === 503 && text.includes("too_many_buckets_exception"));
  const waited = status === 504 && text.includes("Time exceeded");
  if (status >= 500 && !reasoned && !waited) return `${status} for ${method} ${path}`;
  if (status >= 200 && status < 300) return undefined;
  if (method === "HEAD" || path.includes("filter_path=")) return undefined;
  try {
    const body = JSON.parse(text) as { error?: unknown; found?: unknown; result?: unknown };
    if (status < 400) return `${status} is neither done nor refused`;
    const hasReason =
      body.error !== undefined ||
      status === 404 ||
      status === 409 ||
      "failures" in body ||
      "succeeded" in body ||
      "timed_out" in body;
    return hasReason ? undefined : `${status} without a reason`;
  } catch {
    return status === 400 || status === 431 || status === 414 ? undefined : `${status} isn't JSON`;
  }
}

/** Open scrolls and running tasks. */
async function contexts(): Promise<unknown> {
  const { text } = await send({ method: "GET", path: "/_tasks?actions=indices*", headers: {}, body: "" });
  return JSON.parse(text) as unknown;
}

async function residentBytes(): Promise<number> {
  const response = await fetch(`${hub.dashboardUrl}/metrics`);
  const metrics = await response.text();
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(metrics)?.[1] ?? 0);
}

function send(request: PlainRequest): Promise<PlainAnswer> {
  return clients[0]!.send(request);
}
