import assert from "node:assert/strict";
import { test } from "node:test";
import { START } from "#proto/position.ts";
import { resumption } from "./journal-adapters.ts";

const at = (sequence: number, incarnation = 1) => ({ incarnation, sequence });
const cursor = (doc: number) => ({ partition: 3, rawPosition: at(50), docPosition: at(doc) });

for (const [name, stored, findings, expected] of [
  [
    "an intact log goes on",
    cursor(90),
    { docLost: false, survived: at(10) },
    { after: at(50), keepSources: true },
  ],
  [
    "documents that survived a rollback go on",
    cursor(90),
    { docLost: true, survived: at(90) },
    { after: at(50), keepSources: true },
  ],
  [
    "documents that were lost are made again",
    cursor(91),
    { docLost: true, survived: at(90) },
    { after: START, keepSources: false },
  ],
] as const) {
  test(name, () => {
    assert.deepEqual(resumption(stored, findings), expected);
  });
}
