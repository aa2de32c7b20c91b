import assert from "node:assert/strict";
import { test } from "node:test";
import { Metrics } from "#proto/kit/metrics.ts";
import { Watermarks } from "./watermarks.ts";

const AGENT = "6e7a0000-0000-4000-8000-000000000001";
const at = (sequence: number) => ({ incarnation: 1, sequence });
const key = `${AGENT}/8-2a-17/0`;

test("a range is committed once the shards have committed the message it led to", () => {
  const watermarks = new Watermarks(new Metrics());
  watermarks.processed({
    partition: 3,
    docIncarnation: 1,
    docPosition: at(10),
    sources: [{ key, from: 0, to: 100 }],
  });
  watermarks.committed(at(9));
  assert.equal(watermarks.takeMoved().size, 0);
  watermarks.committed(at(10));
  const range = { fileKey: "8-2a-17", generation: 0, from: 0, offset: 100 };
  assert.deepEqual(watermarks.takeMoved(), new Map([[AGENT, [range]]]));
  assert.equal(watermarks.takeMoved().size, 0, "reported once");
  assert.deepEqual(watermarks.of(AGENT, [key, `${AGENT}/other/0`]), [range], "and on question again");
});

test("a cursor that was committed before the start is reported immediately", () => {
  const watermarks = new Watermarks(new Metrics());
  watermarks.committed(at(50));
  watermarks.processed({
    partition: 3,
    docIncarnation: 1,
    docPosition: at(10),
    sources: [{ key, from: 0, to: 7 }],
  });
  assert.equal(watermarks.takeMoved().get(AGENT)?.[0]?.offset, 7);
});

test("a newer incarnation of the log is after every older position", () => {
  const watermarks = new Watermarks(new Metrics());
  watermarks.committed({ incarnation: 1, sequence: 1_000 });
  watermarks.processed({
    partition: 0,
    docIncarnation: 2,
    docPosition: { incarnation: 2, sequence: 5 },
    sources: [{ key, from: 0, to: 7 }],
  });
  assert.equal(watermarks.takeMoved().size, 0);
  watermarks.committed({ incarnation: 2, sequence: 5 });
  assert.equal(watermarks.takeMoved().size, 1);
});

test("a range whose document the log lost isn't committed by a newer incarnation", () => {
  const watermarks = new Watermarks(new Metrics(), ({ docPosition }) => docPosition.sequence <= 10);
  watermarks.committed(at(9));
  const cursor = { partition: 3, docIncarnation: 1 };
  watermarks.processed({ ...cursor, docPosition: at(10), sources: [{ key, from: 0, to: 100 }] });
  watermarks.processed({ ...cursor, docPosition: at(11), sources: [{ key, from: 0, to: 200 }] });
  watermarks.committed({ incarnation: 2, sequence: 5 });
  assert.equal(watermarks.takeMoved().get(AGENT)?.[0]?.offset, 100);
  watermarks.processed({ ...cursor, docPosition: at(12), sources: [{ key, from: 0, to: 300 }] });
  assert.equal(watermarks.takeMoved().size, 0, "nor where it is processed only now");
});
