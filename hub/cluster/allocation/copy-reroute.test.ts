import assert from "node:assert/strict";
import { test } from "node:test";
import { allocateCopies } from "./copy-allocation.ts";
import { type RerouteCommand, reroute } from "./copy-reroute.ts";

/** "a>b": move; "+c": allocate_replica; "-c": cancel. */
function commandOf(text: string): RerouteCommand {
  const shared = { uuid: "x", shard: 0 };
  const [from = "", to] = text.split(">");
  if (to !== undefined) return { ...shared, command: "move", from, to };
  return { ...shared, command: text.startsWith("+") ? "allocate_replica" : "cancel", node: text.slice(1) };
}

/** Holders of the shard after a command, or why not. `has`: hubs with a whole copy; live are a, b and c. */
function after(holders: string, text: string, has: string, wanted = 2): string {
  const found = reroute(commandOf(text), {
    copies: { x: [holders.split("")] },
    wanted,
    live: new Set(["a", "b", "c"]),
    has: (id) => has.includes(id),
  });
  return "refusal" in found ? found.refusal : found.copies["x"]![0]!.join("");
}

for (const [what, got, want] of [
  ["a copy is moved", () => after("ab", "b>c", "ab"), "ac"],
  ["not to a hub that has one", () => after("ab", "b>a", "ab"), /has a copy/],
  ["nor to one that isn't there", () => after("ab", "b>z", "ab"), /isn't a live hub/],
  ["nor from one without it", () => after("ab", "c>c", "ab"), /has no copy/],
  ["nor where there is no source", () => after("a", "a>b", ""), /no live hub has a whole copy/],
  ["a hub that isn't to have a copy is one", () => after("z", "z>c", "a"), "c"],
  ["and for one that is missing", () => after("z", "+c", "a"), "cz"],
  ["a copy that is missing is made", () => after("a", "+c", "a"), "ac"],
  ["in the place of that of a lost hub", () => after("az", "+c", "a"), "ac"],
  ["which keeps its own where more are missing", () => after("az", "+c", "a", 3), "acz"],
  ["none beyond those wanted", () => after("ab", "+c", "ab"), /all 2 copies/],
  ["a move that is under way goes back", () => after("ac", "-c", "ab"), "ab"],
  ["a copy that is there isn't cancelled", () => after("ab", "-b", "ab"), /is there/],
  ["nor one that would be made again", () => after("ac", "-c", "a"), /made again/],
] as const)
  test(`by hand: ${what}`, () => {
    const found = got();
    if (typeof want === "string") assert.equal(found, want);
    else assert.match(found, want);
  });

test("what was moved by hand stays there, and another shard makes up for it", () => {
  const before = { x: [["a"], ["b"]] };
  const has = (id: string, _uuid: string, shard: number): boolean => before.x[shard]!.includes(id);
  const moved = reroute(commandOf("a>b"), {
    copies: before,
    wanted: 1,
    live: new Set(["a", "b"]),
    has: (id) => has(id, "x", 0),
  });
  assert.ok("copies" in moved);
  const input = { members: [{ id: "a" }, { id: "b" }], nowMs: 0 };
  const indices = [{ uuid: "x", shards: 2, copies: 1, delayMs: 0 }];
  const next = allocateCopies({ ...input, indices, before: { epoch: 1, copies: moved.copies }, has });
  assert.deepEqual(next, { x: [["b"], ["a"]] });
});
