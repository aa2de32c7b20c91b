import assert from "node:assert/strict";
import { test } from "node:test";
import { Incarnations } from "#hub/journal/streams/log-history.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { type Position, START } from "#proto/position.ts";
import { DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";
import { findingsOf, followLosses } from "./log-loss.ts";

const at = (incarnation: number, sequence: number): Position => ({ incarnation, sequence });

function logOf(incarnations: Incarnations) {
  return {
    incarnation: () => incarnations.current,
    positionOf: (_stream: string, sequence: number) => incarnations.positionOf(sequence),
  };
}

const FIRST = new Incarnations();
/** The stream was set back to 80 messages. */
const ROLLED_BACK = FIRST.raise(80, 0);
const MADE_ANEW = FIRST.raise(0, 0);

for (const [name, incarnations, committed, expected] of [
  ["an intact log", FIRST, at(1, 90), { docLost: false, survived: at(1, 90) }],
  ["a hub without shards", MADE_ANEW, START, { docLost: false, survived: START }],
  ["a log that was made anew", MADE_ANEW, at(1, 90), { docLost: true, survived: at(1, 90) }],
  [
    "a log that was set back to less than is committed",
    ROLLED_BACK,
    at(1, 90),
    { docLost: true, survived: at(1, 90) },
  ],
  [
    "a log that still has what isn't committed",
    ROLLED_BACK,
    at(1, 50),
    { docLost: true, survived: at(1, 80) },
  ],
  ["a loss that shards have passed", ROLLED_BACK, at(2, 85), { docLost: false, survived: at(2, 85) }],
] as const)
  test(`what is found of ${name}`, () => {
    assert.deepEqual(findingsOf(logOf(incarnations), committed), expected);
  });

test("a loss while the hub runs makes agents wait and the pipelines resume", async () => {
  const heard: unknown[] = [];
  let raise: (stream: string, incarnation: number) => void = () => undefined;
  followLosses({
    journal: {
      ...logOf(ROLLED_BACK),
      onIncarnation: (listener) => {
        raise = listener;
        return () => undefined;
      },
    },
    watermarks: { lost: (survived) => heard.push(["watermarks", survived]) },
    pipelines: { resume: async () => void heard.push(["resume"]) },
    committed: () => at(1, 50),
    found: (findings) => heard.push(["found", findings]),
    log: silentLogger(),
  });
  raise(RAW_STREAM, 2);
  assert.deepEqual(heard, []);
  raise(DOC_STREAM, 2);
  assert.deepEqual(heard, [
    ["found", { docLost: true, survived: at(1, 80) }],
    ["watermarks", at(1, 80)],
    ["resume"],
  ]);
});
