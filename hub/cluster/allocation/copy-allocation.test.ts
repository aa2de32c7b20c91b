import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type AllocationInput, allocateCopies, type CopyMember, MAX_MOVING } from "./copy-allocation.ts";
import { type CopyTable, decodeCopies, encodeCopies, NO_COPIES } from "./copy-table.ts";

const MINUTE = 60_000;
const NOW = 10 * MINUTE;

/** "a b c/z1 d!2": hubs, with zones, lost so many minutes ago. */
function hubs(text: string): CopyMember[] {
  return text.split(" ").map((each) => {
    const [, id = "", zone, lost] = /^(\w+)(?:\/(\w+))?(?:!(\d+))?$/.exec(each) ?? [];
    return { id, zone, lostMs: lost === undefined ? undefined : NOW - Number(lost) * MINUTE };
  });
}

/** "ab bc": the holders of each shard of the index x. */
function table(text: string): CopyTable {
  if (text === "") return NO_COPIES;
  return { epoch: 1, copies: { x: text.split(" ").map((ids) => (ids === "-" ? [] : ids.split(""))) } };
}

function place(
  members: string,
  copies: number,
  before: string,
  more: Partial<AllocationInput> & { readonly shards?: number } = {},
): string {
  const { shards = table(before).copies["x"]?.length ?? 2, ...rest } = more;
  const placed = allocateCopies({
    members: hubs(members),
    indices: [{ uuid: "x", shards, copies, delayMs: MINUTE }],
    before: table(before),
    // A new index is at every hub.
    has: (id, _uuid, shard) => before === "" || (table(before).copies["x"]?.[shard]?.includes(id) ?? false),
    nowMs: NOW,
    ...rest,
  });
  return placed["x"]?.map((ids) => ids.join("")).join(" ") ?? "";
}

describe("where copies of shards are", () => {
  const rows: [what: string, got: () => string, want: string][] = [
    ["a new index is spread", () => place("a b c", 2, "", { shards: 3 }), "ab ca bc"],
    ["copies beyond the hubs wait", () => place("a b", 3, "", { shards: 1 }), "ab"],
    ["what is placed stays", () => place("a b c", 2, "ba cb ac"), "ba cb ac"],
    ["a lost hub's copies stay its own for a while", () => place("a b!0 c", 2, "ab bc ca"), "ab bc ca"],
    ["then others take them", () => place("a b!2 c", 2, "ab bc ca"), "ac ca ca"],
    ["a hub that left is replaced at once", () => place("a c", 2, "ab bc ca"), "ac ca ca"],
    ["a shard without a live copy waits for its hub", () => place("a b!9", 1, "b a"), "b a"],
    ["even if that was forgotten", () => place("a c", 1, "b a"), "b a"],
    ["fewer copies: the fullest hub gives one up", () => place("a b c", 1, "ab ac"), "b a"],
    ["more copies go to the emptiest", () => place("a b c", 2, "a a"), "ab ac"],
    ["a new hub gets its share", () => place("a b c", 1, "a b a b a b"), "c c a b a b"],
    ["zones have a copy each", () => place("a/1 b/1 c/2", 2, "", { shards: 2 }), "ac bc"],
    ["balance puts no two copies into a zone", () => place("a/1 b/1 c/2", 2, "ac ac ac ac"), "bc bc ac ac"],
    ["a new zone gets a copy of each shard", () => place("a/1 b/1 c/2", 2, "ab ab ab"), "cb ac cb"],
    [
      "a copy leaves a crowded zone only once the shard is everywhere",
      () => place("a/1 b/1 c/2", 2, "ab", { has: (id) => id === "a" }),
      "ab",
    ],
    ["an index that no hub has opened yet waits", () => place("a b", 2, "", { has: () => false }), ""],
    [
      "one of which a shard isn't found, too",
      () => place("a b", 2, "", { has: (_id, _uuid, at) => at === 0 }),
      "",
    ],
    [
      "after the table was lost shards are where they are found",
      () =>
        place("a b c", 2, "", {
          shards: 3,
          has: (id, _uuid, at) => id === "cba"[at] || (id === "a" && at === 1),
        }),
      "ca bc ab",
    ],
    [
      "one that was to move to a lost hub stays",
      () => place("a b!0 c", 1, "b", { has: (id) => id === "a" }),
      "a",
    ],
    [
      "also where more are wanted than hubs live",
      () => place("a b!9", 2, "b", { has: (id) => id === "a" }),
      "a",
    ],
    ["and others are made of it", () => place("a b!9 c", 2, "b", { has: (id) => id === "a" }), "ac"],
    [
      "the lost hub keeps one that is missing",
      () => place("a b!0", 2, "b", { has: (id) => id === "a" }),
      "ab",
    ],
    ["a hub that has left is replaced alike", () => place("a c", 1, "b", { has: (id) => id === "a" }), "a"],
    ["a copy that is to move is a source", () => place("a b c", 2, "b", { has: (id) => id === "a" }), "ba"],
    ["a copy that isn't there is no source", () => place("a b", 2, "a", { has: () => false }), "a"],
  ];
  for (const [what, got, want] of rows) test(what, () => assert.equal(got(), want));

  test("few copies are on their way at a time", () => {
    const before = Array.from({ length: 20 }, () => "a").join(" ");
    const next = place("a b", 1, before).split(" ");
    assert.equal(next.filter((id) => id === "b").length, MAX_MOVING);
    const waiting = place("a b", 1, next.join(" "), { has: (id) => id === "a" });
    assert.equal(waiting, next.join(" "));
  });

  test("a table is read as it was written", () => {
    const { copies } = table("ab bc -");
    assert.deepEqual(decodeCopies(encodeCopies({ epoch: 7, copies })), { epoch: 7, copies, left: {} });
  });

  test("any change of hubs and indices ends placed, balanced and without needless moves", () => {
    for (let seed = 1; seed <= 150; seed++) new World(generator(seed), `seed ${seed}`).run();
  });
});

/** Hubs that come, go and are lost; what is on its way arrives between two tables. */
class World {
  readonly #random: () => number;
  readonly #hint: string;
  readonly #held = new Set<string>();
  #before: CopyTable = NO_COPIES;
  #members: CopyMember[] = [];
  #nowMs = NOW;

  constructor(random: () => number, hint: string) {
    this.#random = random;
    this.#hint = hint;
  }

  run(): void {
    const zones = this.#random() < 0.5;
    const indices = Array.from({ length: 1 + Math.floor(this.#random() * 4) }, (_, at) => ({
      uuid: `i${at}`,
      shards: 1 + Math.floor(this.#random() * 5),
      copies: 1 + Math.floor(this.#random() * 3),
      delayMs: MINUTE,
    }));
    for (let change = 0; change < 5; change++) {
      this.#members = Array.from({ length: 6 }, (_, at) => `n${at}`)
        .filter(() => this.#random() < 0.7)
        .map((id) => ({ id, zone: zones ? `z${Number(id.slice(1)) % 2}` : undefined }));
      if (this.#members.length === 0) continue;
      // A new index is at every hub.
      for (const { uuid, shards } of indices)
        for (let shard = 0; shard < shards && this.#before.copies[uuid] === undefined; shard++)
          for (const { id } of this.#members) this.#held.add(`${id}/${uuid}/${shard}`);
      let rounds = 0;
      for (; this.#step(indices); rounds++) assert.ok(rounds < 100, `${this.#hint}: it never settles`);
      this.#checkSettled(indices, zones);
    }
  }

  /** Makes a table and lets one round of copies arrive; false where nothing changed. */
  #step(indices: AllocationInput["indices"]): boolean {
    const has = (id: string, uuid: string, shard: number): boolean =>
      this.#held.has(`${id}/${uuid}/${shard}`);
    const input = { members: this.#members, indices, before: this.#before, has, nowMs: this.#nowMs };
    const copies = allocateCopies(input);
    assert.deepEqual(allocateCopies(input), copies, this.#hint);
    let arrived = 0;
    let onTheWay = 0;
    for (const [uuid, shards] of Object.entries(copies))
      for (const [shard, ids] of shards.entries()) {
        assert.equal(new Set(ids).size, ids.length, `${this.#hint}: two copies on one hub`);
        const isNew = this.#before.copies[uuid] === undefined;
        const source = ids
          .concat(this.#before.copies[uuid]?.[shard] ?? [])
          .some((id) => has(id, uuid, shard));
        for (const id of ids.filter((each) => this.#members.some((member) => member.id === each))) {
          if (has(id, uuid, shard)) continue;
          onTheWay += isNew ? 0 : 1;
          if (!isNew && !source) continue;
          this.#held.add(`${id}/${uuid}/${shard}`);
          arrived++;
        }
      }
    assert.ok(onTheWay <= MAX_MOVING, this.#hint);
    const isSame = JSON.stringify(copies) === JSON.stringify(this.#before.copies);
    this.#before = { epoch: this.#before.epoch + 1, copies };
    this.#nowMs += 2 * MINUTE;
    return arrived > 0 || !isSame;
  }

  #checkSettled(indices: AllocationInput["indices"], zones: boolean): void {
    const live = this.#members.map(({ id }) => id);
    const loads = new Map(live.map((id) => [id, 0]));
    let isFree = true;
    for (const { uuid, shards, copies } of indices)
      for (let shard = 0; shard < shards; shard++) {
        const holders = this.#before.copies[uuid]![shard]!;
        const here = holders.filter((id) => live.includes(id));
        if (here.length === 0) isFree = false;
        else assert.equal(here.length, Math.min(copies, live.length), `${this.#hint}: ${uuid}/${shard}`);
        for (const id of here) loads.set(id, loads.get(id)! + 1);
      }
    const counts = [...loads.values()];
    if (zones || !isFree) return;
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 2, `${this.#hint}: ${counts.join()}`);
  }
}

/** mulberry32 */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
