import assert from "node:assert/strict";
import { test } from "node:test";
import { behindBytes, fileState, rateText, readAgent } from "./fleet.ts";

test("a file is behind only with lines that have ended", () => {
  const stateOf = (file: object): readonly string[] => {
    const { files } = readAgent({ files: [{ path: "/a", size_bytes: 100, ...file }] });
    return [...fileState(files[0]!), String(behindBytes(files[0]!))];
  };
  assert.deepEqual(stateOf({ sent_bytes: 69, committed_bytes: 69 }), ["behind", "warning", "31"]);
  assert.deepEqual(stateOf({ sent_bytes: 69, committed_bytes: 69, unfinished_bytes: 31 }), [
    "last line has no end yet",
    "ok",
    "0",
  ]);
  assert.deepEqual(stateOf({ sent_bytes: 100, committed_bytes: 40 }), ["in the log", "ok", "0"]);
  assert.deepEqual(stateOf({ sent_bytes: 100, committed_bytes: 100 }), ["committed", "ok", "0"]);
});

test("an agent's rate is the hub's, and a dash until it is known", () => {
  assert.equal(rateText(readAgent({ lines_per_second: 48 }).linesPerSecond), "48");
  assert.equal(rateText(readAgent({ lines_per_second: null }).linesPerSecond), "–");
});
