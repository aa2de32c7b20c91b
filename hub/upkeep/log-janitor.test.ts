import assert from "node:assert/strict";
import { test } from "node:test";
import { ProcessedFloor } from "./log-janitor.ts";

const at = (sequence: number) => ({ incarnation: 1, sequence });

test("a part of RAW is done with once the documents written until then are committed", () => {
  const floor = new ProcessedFloor();
  assert.equal(floor.advance(at(10), at(100)).sequence, 0, "nothing is committed yet");
  floor.committed(at(99));
  assert.equal(floor.advance(at(20), at(200)).sequence, 0, "the last document isn't");
  floor.committed(at(100));
  assert.equal(floor.advance(at(20), at(200)).sequence, 10);
  floor.committed(at(200));
  assert.equal(floor.advance(at(30), at(300)).sequence, 20);
});

test("a position of a new incarnation of DOC is after all of the old one", () => {
  const floor = new ProcessedFloor();
  floor.advance(at(10), { incarnation: 2, sequence: 1 });
  floor.committed(at(1_000));
  assert.equal(floor.advance(at(10), at(5)).sequence, 0);
  floor.committed({ incarnation: 2, sequence: 1 });
  assert.equal(floor.advance(at(10), at(5)).sequence, 10);
});

test("a position of RAW that goes back, as partitions were taken over, is done with anew", () => {
  const floor = new ProcessedFloor();
  floor.committed(at(1_000));
  floor.advance(at(20), at(200));
  assert.equal(floor.advance(at(30), at(300)).sequence, 20);
  assert.equal(floor.advance(at(5), at(300)).sequence, 0);
  assert.equal(floor.advance(at(40), at(400)).sequence, 5);
});
