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
