import assert from "node:assert/strict";
import { test } from "node:test";
import { ShardsClient } from "#hub/host/client/shards-client.ts";
import { AppError } from "#proto/kit/errors.ts";
import { START } from "#proto/position.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { PlacedCopies } from "./placed-copies.ts";

const INDEX = { uuid: "u" };

/** A hub without the shard; `places`: who has it by the table, one list for each time that it is looked up. */
function world(
  places: readonly (readonly string[])[],
  open: readonly string[],
  { clock = new StillClock(), logEnd = () => Promise.resolve(START) } = {},
) {
  const asked: string[] = [];
  let looked = 0;
  const host = (hub: string) => ({
    call: async (operation: string) => {
      asked.push(`${operation} ${hub}`);
      if (operation === "get" && !open.includes(hub)) throw new AppError("unavailable", "it is not open");
      return { value: null, parts: [] };
    },
    notify: () => undefined,
  });
  const shards = new PlacedCopies({
    own: new ShardsClient(host("a")),
    holders: {
      node: "a",
      isAlone: false,
      isHere: () => false,
      elsewhere: () => {
        const ids = places[Math.min(looked, places.length - 1)]!;
        looked++;
        return ids.map((id) => ({ id, threads: 1, load: 0 }));
      },
    },
    thread: ({ hub }) => host(hub),
    shards: () => 1,
    logEnd,
    clock,
  });
  return { asked, shards, clock };
}

test("a document of a shard that moves is read where it went", async () => {
  const { asked, shards, clock } = world([["b"], ["b"], ["c"]], ["c"]);
  const read = shards.get(INDEX, 0, "x");
  await clock.advance(100);
  assert.equal(await read, null);
  assert.deepEqual(asked, ["reach b", "get b", "reach c", "get c"]);
});

test("a shard that no hub opens is looked for some times, one that no hub has is not", async () => {
  const { asked, shards, clock } = world([["b"]], []);
  const read = assert.rejects(shards.get(INDEX, 0, "x"), { code: "unavailable" });
  await clock.advance(2_000);
  await read;
  assert.equal(asked.length, 12);
  await assert.rejects(world([[]], []).shards.get(INDEX, 0, "x"), { code: "unavailable" });
});

test("a document at another hub is read as it is there while most servers of the log are away", async () => {
  const logEnd = () => Promise.reject(new AppError("unavailable", "most servers can't be reached"));
  const { asked, shards } = world([["b"]], ["b"], { logEnd });
  assert.equal(await shards.get(INDEX, 0, "x"), null);
  assert.deepEqual(asked, ["get b"]);
});

test("statistics of a shard that moves are read where it went", async () => {
  const places = [["b"], ["c"]];
  const asked: string[] = [];
  const host = (hub: string) => ({
    call: async () => {
      asked.push(hub);
      return { value: new Map([["u", hub === "c" ? [{ shard: 0 }] : []]]), parts: [] };
    },
    notify: () => undefined,
  });
  const shards = new PlacedCopies({
    own: new ShardsClient(host("a")),
    holders: {
      node: "a",
      isAlone: false,
      isHere: () => false,
      elsewhere: () =>
        (places.length > 1 ? places.shift()! : places[0]!).map((id) => ({ id, threads: 1, load: 0 })),
    },
    thread: ({ hub }) => host(hub),
    shards: () => 1,
    logEnd: () => Promise.resolve(START),
    clock: new StillClock(),
  });
  assert.deepEqual((await shards.stats([INDEX])).get("u"), [{ shard: 0 }]);
  assert.deepEqual(asked, ["a", "b", "a", "c"]);
});

/** Shards 0 and 1 of `u` at other hubs, by hub; `silent` ones don't answer. */
function holding(places: Readonly<Record<string, readonly number[]>>, silent: readonly string[]) {
  const asked: string[] = [];
  const host = (hub: string) => ({
    call: async (operation: string) => {
      asked.push(`${operation} ${hub}`);
      if (silent.includes(hub)) throw new AppError("unavailable", "it is gone");
      return { value: new Map([["u", (places[hub] ?? []).map((shard) => ({ shard }))]]), parts: [] };
    },
    notify: () => undefined,
  });
  const shards = new PlacedCopies({
    own: new ShardsClient(host("a")),
    holders: {
      node: "a",
      isAlone: false,
      isHere: () => false,
      elsewhere: (_uuid, shard) =>
        Object.keys(places)
          .filter((id) => places[id]!.includes(shard))
          .map((id) => ({ id, threads: 1, load: 0 })),
    },
    thread: ({ hub }) => host(hub),
    shards: () => 2,
    logEnd: () => Promise.resolve(START),
    clock: new StillClock(),
  });
  return { asked, shards };
}

test("statistics of a shard whose hub doesn't answer are those of another copy, where there is one", async () => {
  const replicated = holding({ b: [0, 1], c: [0, 1] }, ["b"]);
  assert.deepEqual((await replicated.shards.stats([INDEX])).get("u"), [{ shard: 0 }, { shard: 1 }]);
  assert.deepEqual(replicated.asked, ["stats a", "stats b", "stats c"]);
  const partly = holding({ b: [0, 1], c: [1] }, ["b"]);
  assert.deepEqual((await partly.shards.stats([INDEX])).get("u"), [{ shard: 1 }]);
  const lost = holding({ b: [0, 1] }, ["b"]);
  assert.deepEqual((await lost.shards.stats([INDEX])).get("u"), []);
  assert.deepEqual(lost.asked, ["stats a", "stats b"]);
});

test("caches are cleared at each hub that has a copy, and a hub that doesn't answer is no failure", async () => {
  const { asked, shards } = holding({ b: [0], c: [1], d: [0] }, ["c"]);
  await shards.clearCaches([INDEX]);
  assert.deepEqual(asked.toSorted(), ["clearCaches a", "clearCaches b", "clearCaches c", "clearCaches d"]);
});

test("a shard that a hub should have by the table alone, and hasn't, is missing", async () => {
  const host = (hub: string) => ({
    call: async (operation: string) => ({
      value: operation === "largest" ? new Map(hub === "a" ? [["u", 1]] : []) : null,
      parts: [],
    }),
    notify: () => undefined,
  });
  const shards = new PlacedCopies({
    own: new ShardsClient(host("a")),
    holders: {
      node: "a",
      isAlone: false,
      isHere: (_uuid, shard) => shard === 0,
      elsewhere: () => [{ id: "b", threads: 1, load: 0, isExpected: true }],
    },
    thread: ({ hub }) => host(hub),
    shards: () => 2,
    logEnd: () => Promise.resolve(START),
    clock: new StillClock(),
  });
  assert.equal((await shards.largest([INDEX], "ingested")).get("u"), Number.POSITIVE_INFINITY);
  await assert.rejects(shards.getRefreshed([INDEX], "x"), { code: "unavailable" });
});
