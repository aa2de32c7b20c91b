import assert from "node:assert/strict";
import { test } from "node:test";
import * as subjects from "./subjects.ts";

const AGENT = "6f1c2b4e-8a53-4d0a-9c53-0f4b0c8f7d11";
const INDEX = "m3J0s9dQSGa8o1h2k4l5zA";

// Frozen: stores and registries contain subjects; another value would send a file's lines to another partition.
test("partitions and slots never change for the same names", () => {
  assert.equal(subjects.partitionOf(AGENT, "fd00-1a2b-17c4f0"), 158);
  assert.equal(subjects.slotOf(INDEX, 0), 37);
});

test("subjects hold what routes a message, in the order that streams filter by", () => {
  assert.equal(subjects.rawSubject(17, AGENT), `raw.17.${AGENT}`);
  assert.equal(subjects.docSubject(INDEX, 0), `doc.37.${INDEX}.0`);
  assert.equal(subjects.batchMessageId(AGENT, 2, 9, "s"), `${AGENT}/2/9/s`);
});

test("files spread over the partitions evenly", () => {
  const counts = new Array<number>(subjects.PARTITIONS).fill(0);
  for (let file = 0; file < 25_600; file++) counts[subjects.partitionOf(AGENT, `fd00-${file}-1`)]!++;
  assert.ok(
    Math.min(...counts) > 50 && Math.max(...counts) < 160,
    `${Math.min(...counts)}..${Math.max(...counts)}`,
  );
});
