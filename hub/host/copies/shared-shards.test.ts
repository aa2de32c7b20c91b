import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { HubTransport } from "#hub/cluster/links/hub-transport.ts";
import { ShardsClient } from "#hub/host/client/shards-client.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { Position } from "#proto/position.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { CopyCalls, type OtherHub } from "./copy-calls.ts";
import { LogEnd, SharedShards } from "./shared-shards.ts";

const INDEX = { uuid: "u1" };

type Answer = (message: { readonly data: Uint8Array }) => Promise<Uint8Array>;

/** NATS without a server: hubs that stand still don't answer, those that are gone have no responder. */
class Wire implements HubTransport {
  readonly #served = new Map<string, Answer>();
  readonly still = new Set<string>();
  requests = 0;

  async request(subject: string, data: Uint8Array): Promise<Uint8Array> {
    this.requests++;
    if (this.still.has(subject)) throw new AppError("timeout", "no answer");
    const answer = this.#served.get(subject);
    if (answer === undefined) throw new AppError("unavailable", "no responders");
    return answer({ data });
  }

  serve(subject: string, answer: Answer): () => void {
    this.#served.set(subject, answer);
    return () => this.#served.delete(subject);
  }
}

/** A hub whose thread only notes what it is asked for. */
function hub(
  wire: Wire,
  id: string,
  others: () => readonly OtherHub[],
  end: () => Promise<Position>,
  clock = new StillClock(),
  reached = true,
) {
  const calls: string[] = [];
  const wholes: number[] = [];
  const own = new ShardsClient({
    call: (operation: string) => {
      calls.push(operation);
      return Promise.resolve({ value: null, parts: [] });
    },
    notify: () => undefined,
  });
  const reach = ({ sequence }: Position): Promise<void> => {
    calls.push(`reach ${sequence}`);
    return reached ? Promise.resolve() : Promise.reject(new AppError("timeout", "late"));
  };
  const elsewhere = async (_: unknown, shard: number, key: string, after: Position): Promise<null> => {
    calls.push(`elsewhere ${shard} ${key} ${after.sequence}`);
    if (key === "nowhere") throw new AppError("unavailable", "no hub");
    return null;
  };
  const log = silentLogger();
  const copies = new CopyCalls({ transport: wire, node: id, others, log, metrics: new Metrics() });
  return {
    calls,
    wholes,
    shards: new SharedShards({
      own,
      elsewhere,
      reach,
      age: { reached: (atMs) => void wholes.push(atMs) },
      indices: () => [INDEX],
      calls: copies,
      logEnd: end,
      log,
      clock,
    }),
  };
}

describe("shards that other hubs have copies of", () => {
  const end = (): Promise<Position> => Promise.resolve({ incarnation: 1, sequence: 7 });

  test("a refresh is done by every hub, each after it has reached the end of the log", async () => {
    const wire = new Wire();
    const a = hub(wire, "a", () => [{ id: "b", revision: 1 }], end);
    const b = hub(wire, "b", () => [], end);
    await b.shards.start();
    await a.shards.refresh([INDEX]);
    assert.deepEqual(a.calls, ["reach 7", "refresh"]);
    assert.deepEqual(b.calls, ["reach 7", "refresh"]);
  });

  test("a hub that starts beside others refreshes what it read of the log before it serves", async () => {
    const a = hub(new Wire(), "a", () => [{ id: "b", revision: 1 }], end);
    await a.shards.start();
    assert.deepEqual(a.calls, ["reach 7", "refresh"]);
  });

  test("a document is read by its id after everything that others wrote", async () => {
    const a = hub(new Wire(), "a", () => [{ id: "b", revision: 1 }], end);
    await a.shards.get(INDEX, 0, "x");
    assert.deepEqual(a.calls, ["reach 7", "get"]);
    assert.deepEqual(a.wholes, [1_000], "searches needn't doubt the copies as of then");
  });

  test("a hub that can't reach the end of the log says so of a refresh, and reads documents at another one", async () => {
    const a = hub(new Wire(), "a", () => [{ id: "b", revision: 1 }], end, new StillClock(), false);
    const { behind, missed } = await a.shards.refresh([INDEX]);
    assert.equal(behind?.code, "unavailable");
    assert.deepEqual(a.wholes, []);
    assert.equal(missed, 0);
    await a.shards.get(INDEX, 2, "x");
    await a.shards.get(INDEX, 2, "nowhere");
    const reads = ["reach 7", "elsewhere 2 x 7", "reach 7", "elsewhere 2 nowhere 7", "get"];
    assert.deepEqual(a.calls, ["reach 7", "refresh", ...reads]);
  });

  test("a refresh counts the hubs that it didn't reach", async () => {
    const wire = new Wire();
    wire.still.add("hub.b.copies");
    const a = hub(wire, "a", () => [{ id: "b", revision: 1 }], end);
    assert.deepEqual(await a.shards.refresh([INDEX]), { missed: 1 });
    assert.deepEqual(await a.shards.refresh([INDEX]), { missed: 1 });
  });

  test("a hub alone reaches the end of the log before it refreshes what pipelines wrote", async () => {
    const a = hub(new Wire(), "a", () => [], end);
    await a.shards.refreshWritten([INDEX]);
    assert.deepEqual(a.calls, ["reach 7", "refresh"]);
  });

  test("a hub alone asks nobody and reads no end of the log", async () => {
    const wire = new Wire();
    const a = hub(
      wire,
      "a",
      () => [],
      () => Promise.reject(new Error("not asked for")),
    );
    await a.shards.refresh([INDEX]);
    await a.shards.get(INDEX, 0, "x");
    assert.deepEqual([a.calls, wire.requests], [["refresh", "get"], 0]);
  });

  test("a hub that stands still is waited for once, until it shows that it lives", async () => {
    const wire = new Wire();
    wire.still.add("hub.b.copies");
    let revision = 1;
    const a = hub(wire, "a", () => [{ id: "b", revision }], end);
    for (let round = 0; round < 3; round++) await a.shards.refresh([INDEX]);
    assert.equal(wire.requests, 1);
    revision = 2;
    await a.shards.refresh([INDEX]);
    assert.equal(wire.requests, 2);
  });

  test("a merge that takes longer than its time doesn't leave the hub out of the next refresh", async () => {
    const wire = new Wire();
    wire.still.add("hub.b.copies");
    const a = hub(wire, "a", () => [{ id: "b", revision: 1 }], end);
    await a.shards.forceMerge([INDEX], 1);
    await a.shards.flush([INDEX]);
    wire.still.clear();
    await a.shards.refresh([INDEX]);
    assert.equal(wire.requests, 3);
  });

  test("reads by id wait for the log's end once, then not for a while", async () => {
    const clock = new StillClock();
    let reads = 0;
    const late = async (): Promise<never> => {
      reads++;
      await clock.advance(10_000);
      throw new AppError("timeout", "late");
    };
    const a = hub(new Wire(), "a", () => [{ id: "b", revision: 1 }], late, clock);
    for (let n = 0; n < 100; n++) await a.shards.get(INDEX, 0, String(n));
    assert.equal(reads, 1);
    await clock.advance(5_000);
    await a.shards.get(INDEX, 0, "x");
    assert.equal(reads, 2);
    assert.equal(a.calls.length, 101);
  });

  test("a failure that took no time keeps no read from the log's end", async () => {
    let isAway = true;
    const away = (): Promise<Position> =>
      isAway ? Promise.reject(new AppError("unavailable", "away")) : end();
    const a = hub(new Wire(), "a", () => [{ id: "b", revision: 1 }], away);
    await a.shards.get(INDEX, 0, "x");
    isAway = false;
    await a.shards.get(INDEX, 0, "x");
    assert.deepEqual(a.calls, ["get", "reach 7", "get"]);
  });

  test("while NATS is away a hub refreshes its own copies", async () => {
    const away = (): Promise<never> => Promise.reject(new AppError("unavailable", "away"));
    const a = hub(new Wire(), "a", () => [{ id: "b", revision: 1 }], away);
    await a.shards.refresh([INDEX]);
    assert.deepEqual(a.calls, ["refresh"]);
  });
});

const at = (sequence: number): Position => ({ incarnation: 1, sequence });

test("callers share a reading that begins after their call, and never one that had begun before", async () => {
  const readings: PromiseWithResolvers<Position>[] = [];
  const end = new LogEnd(() => {
    const reading = Promise.withResolvers<Position>();
    readings.push(reading);
    return reading.promise;
  });
  const first = end.position();
  const [second, third] = [end.position(), end.position()];
  assert.equal(readings.length, 1);
  readings[0]!.resolve(at(5));
  assert.deepEqual(await first, at(5));
  assert.equal(readings.length, 2);
  readings[1]!.resolve(at(9));
  assert.deepEqual(await Promise.all([second, third]), [at(9), at(9)]);
  const fourth = end.position();
  assert.equal(readings.length, 3);
  readings[2]!.reject(new Error("away"));
  await assert.rejects(fourth, /away/);
});
