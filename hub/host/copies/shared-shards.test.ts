import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ShardsClient } from "#hub/host/client/shards-client.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { Position } from "#proto/position.ts";
import { CopyCalls, type CopyTransport, type OtherHub } from "./copy-calls.ts";
import { SharedShards } from "./shared-shards.ts";

const INDEX = { uuid: "u1" };

type Answer = (message: { readonly data: Uint8Array }) => Promise<Uint8Array>;

/** NATS without a server: hubs that stand still don't answer, those that are gone have no responder. */
class Wire implements CopyTransport {
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
function hub(wire: Wire, id: string, others: () => readonly OtherHub[], end: () => Promise<Position>) {
  const calls: string[] = [];
  const own = new ShardsClient({
    call: (operation: string) => {
      calls.push(operation);
      return Promise.resolve({ value: null, parts: [] });
    },
    notify: () => undefined,
  });
  const reach = ({ sequence }: Position): Promise<void> => {
    calls.push(`reach ${sequence}`);
    return Promise.resolve();
  };
  const log = silentLogger();
  const copies = new CopyCalls({ transport: wire, node: id, others, log, metrics: new Metrics() });
  return { calls, shards: new SharedShards({ own, reach, calls: copies, logEnd: end, log }) };
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

  test("a document is read by its id after everything that others wrote", async () => {
    const a = hub(new Wire(), "a", () => [{ id: "b", revision: 1 }], end);
    await a.shards.get(INDEX, 0, "x");
    assert.deepEqual(a.calls, ["reach 7", "get"]);
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

  test("while NATS is away a hub refreshes its own copies", async () => {
    const away = (): Promise<never> => Promise.reject(new AppError("unavailable", "away"));
    const a = hub(new Wire(), "a", () => [{ id: "b", revision: 1 }], away);
    await a.shards.refresh([INDEX]);
    assert.deepEqual(a.calls, ["refresh"]);
  });
});
