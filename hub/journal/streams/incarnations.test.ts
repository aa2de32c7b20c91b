import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { START } from "#proto/position.ts";
import { Incarnations } from "./incarnations.ts";

const position = (incarnation: number, sequence: number) => ({ incarnation, sequence });

/** 1: 1..60, 2: 61..70, 3: from 71. */
const three = new Incarnations().raise(60, 1).raise(70, 2);

describe("incarnations", () => {
  test("a new stream is in its first life from its first message", () => {
    const lives = new Incarnations();
    assert.deepEqual(lives.current, { incarnation: 1, firstSequence: 1 });
    assert.equal(lives.nextAfter(START), 1);
    assert.equal(lives.nextAfter(position(1, 7)), 8);
  });

  test("each message belongs to the life in which it was stored", () => {
    const rows = [1, 60, 61, 70, 71, 1_000].map((sequence) => three.positionOf(sequence).incarnation);
    assert.deepEqual(rows, [1, 1, 2, 2, 3, 3]);
  });

  for (const [name, from, next] of [
    ["within an older life the reading goes on in it", position(1, 40), 41],
    ["at the end of an older life it goes on in the next", position(1, 60), 61],
    [
      "behind the end of an older life, where messages were lost, it goes on in the next",
      position(1, 100),
      61,
    ],
    ["in a middle life the same holds", position(2, 65), 66],
    ["behind the end of a middle life too", position(2, 99), 71],
    ["in the newest life it goes on at the next message", position(3, 80), 81],
  ] as const) {
    test(name, () => assert.equal(three.nextAfter(from), next));
  }

  test("a rollback to before a life removes that life, and its positions go on in the new one", () => {
    const lives = three.raise(50, 3);
    assert.deepEqual(lives.toArray(), [
      { incarnation: 1, firstSequence: 1 },
      { incarnation: 4, firstSequence: 51 },
    ]);
    assert.equal(lives.nextAfter(position(2, 65)), 51);
    assert.equal(lives.nextAfter(position(1, 49)), 50);
  });

  test("a recreated stream has only the new incarnation", () => {
    const lives = three.raise(0, 3);
    assert.deepEqual(lives.toArray(), [{ incarnation: 4, firstSequence: 1 }]);
    assert.equal(lives.nextAfter(position(3, 500)), 1);
  });

  test("an incarnation that others remember is never given again", () => {
    assert.equal(new Incarnations().raise(10, 7).current.incarnation, 8);
  });

  test("a position of an unknown incarnation is an error, not a guess", () => {
    assert.throws(() => three.nextAfter(position(4, 1)), { code: "journal_gap" });
  });

  test("positions only grow over any number of rollbacks", () => {
    let lives = new Incarnations();
    let newest = position(1, 100);
    for (const end of [90, 95, 20, 0, 3, 50]) {
      lives = lives.raise(end, 0);
      const first = lives.positionOf(lives.nextAfter(newest));
      assert.ok(first.incarnation > newest.incarnation);
      assert.equal(first.sequence, end + 1);
      newest = position(first.incarnation, end + 50);
    }
  });
});
