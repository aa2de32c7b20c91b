import assert from "node:assert/strict";
import { test } from "node:test";
import { ShardsClient } from "#hub/host/client/shards-client.ts";
import { AppError } from "#proto/kit/errors.ts";
import { type Position, START } from "#proto/position.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import type { CopyHolders, CopyHub } from "./copy-choice.ts";
import { PlacedCopies } from "./placed-copies.ts";

const INDEX = { uuid: "u" };

interface World {
  /** What a hub answers to an operation. */
  readonly answer: (hub: string, operation: string) => unknown;
  readonly elsewhere: CopyHolders["elsewhere"];
  readonly shards?: number;
  readonly clock?: StillClock;
  readonly logEnd?: () => Promise<Position>;
}

/** The copies as hub a sees them, which has none itself; `asked`: operations and the hubs that were asked for them. */
function copiesOf({ answer, elsewhere, shards: count = 1, clock = new StillClock(), logEnd }: World) {
  const asked: string[] = [];
  const host = (hub: string) => ({
    call: async (operation: string) => {
      asked.push(`${operation} ${hub}`);
      return { value: answer(hub, operation), parts: [] };
    },
    notify: () => undefined,
  });
  const shards = new PlacedCopies({
    own: new ShardsClient(host("a")),
    holders: { node: "a", isAlone: false, isHere: () => false, elsewhere },
    thread: ({ hub }) => host(hub),
    shards: () => count,
    logEnd: logEnd ?? (() => Promise.resolve(START)),
    clock,
  });
  return { asked, shards, clock };
}

const hub = (id: string): CopyHub => ({ id, threads: 1, load: 0 });

/** A shard at other hubs; `places`: who has it by the table, one list for each time that it is looked up. */
function moving(
  places: readonly (readonly string[])[],
  answer: World["answer"],
  more: Pick<World, "logEnd"> = {},
) {
  let looked = 0;
  const elsewhere = (): CopyHub[] => places[Math.min(looked++, places.length - 1)]!.map(hub);
  return copiesOf({ answer, elsewhere, ...more });
}

/** Answers reads at hubs that have the shard open. */
function reads(...open: string[]): World["answer"] {
  return (id, operation) => {
    if (operation === "get" && !open.includes(id)) throw new AppError("unavailable", "it is not open");
    return null;
  };
}

test("a document of a shard that moves is read where it went", async () => {
  const { asked, shards, clock } = moving([["b"], ["b"], ["c"]], reads("c"));
  const read = shards.get(INDEX, 0, "x");
  await clock.advance(100);
  assert.equal(await read, null);
  assert.deepEqual(asked, ["reach b", "get b", "reach c", "get c"]);
});

test("a shard that no hub opens is looked for some times, one that no hub has is not", async () => {
  const { asked, shards, clock } = moving([["b"]], reads());
  const read = assert.rejects(shards.get(INDEX, 0, "x"), { code: "unavailable" });
  await clock.advance(2_000);
  await read;
  assert.equal(asked.length, 12);
  await assert.rejects(moving([[]], reads()).shards.get(INDEX, 0, "x"), { code: "unavailable" });
});

test("a document at another hub is read as it is there while most servers of the log are away", async () => {
  const logEnd = () => Promise.reject(new AppError("unavailable", "most servers can't be reached"));
  const { asked, shards } = moving([["b"]], reads("b"), { logEnd });
  assert.equal(await shards.get(INDEX, 0, "x"), null);
  assert.deepEqual(asked, ["get b"]);
});

test("statistics of a shard that moves are read where it went", async () => {
  const answer = (id: string): unknown => new Map([["u", id === "c" ? [{ shard: 0 }] : []]]);
  const { asked, shards } = moving([["b"], ["c"]], answer);
  assert.deepEqual((await shards.stats([INDEX])).get("u"), [{ shard: 0 }]);
  assert.deepEqual(asked, ["stats a", "stats b", "stats a", "stats c"]);
});

/** Shards 0 and 1 of `u` at other hubs, by hub; `silent` ones don't answer. */
function holding(places: Readonly<Record<string, readonly number[]>>, silent: readonly string[]) {
  return copiesOf({
    answer: (id) => {
      if (silent.includes(id)) throw new AppError("unavailable", "it is gone");
      return new Map([["u", (places[id] ?? []).map((shard) => ({ shard }))]]);
    },
    elsewhere: (_uuid, shard) =>
      Object.keys(places)
        .filter((id) => places[id]!.includes(shard))
        .map(hub),
    shards: 2,
  });
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

test("caches are cleared at each hub that has a copy, and a hub that doesn't answer isn't a failure", async () => {
  const { asked, shards } = holding({ b: [0], c: [1], d: [0] }, ["c"]);
  await shards.clearCaches([INDEX]);
  assert.deepEqual(asked.toSorted(), ["clearCaches a", "clearCaches b", "clearCaches c", "clearCaches d"]);
});

test("a shard that a hub should have by the table alone, and hasn't, is missing", async () => {
  const { shards } = copiesOf({
    answer: (id, operation) => (operation === "largest" ? new Map(id === "a" ? [["u", 1]] : []) : null),
    elsewhere: () => [{ ...hub("b"), isExpected: true }],
    shards: 2,
  });
  assert.equal((await shards.largest([INDEX], "ingested")).get("u"), Number.POSITIVE_INFINITY);
  await assert.rejects(shards.getRefreshed([INDEX], "x"), { code: "unavailable" });
});
