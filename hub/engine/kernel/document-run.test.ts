import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonShape } from "#proto/codec/json-shape.ts";
import { testKernel } from "#test/support/engine/kernel.ts";
import { Random } from "#test/support/engine/random.ts";
import { type DocumentRun, documentShapes } from "./document-run.ts";

const kernel = await testKernel();

/** The shapes as jsonShape gives them. */
function shapesHere(run: DocumentRun, count: number): Float64Array {
  return Float64Array.from({ length: count }, (_, index) =>
    jsonShape(run.bytes, run.sourceStart(index), run.sourceStop(index)),
  );
}

/** Documents one after another with something between them. */
function runOf(texts: readonly string[]) {
  const gap = '{"index":{}}\n';
  const extents: [start: number, stop: number][] = [];
  let stop = 0;
  for (const text of texts) {
    const start = stop + gap.length;
    stop = start + Buffer.byteLength(text);
    extents.push([start, stop]);
  }
  return {
    bytes: Buffer.from(texts.map((text) => gap + text).join("")),
    sourceStart: (index: number) => extents[index]![0],
    sourceStop: (index: number) => extents[index]![1],
  };
}

/** Numbers by the place where each first occurs. */
function groups(shapes: Iterable<number>): number[] {
  const first = new Map<number, number>();
  return Array.from(shapes, (shape, at) => {
    if (!first.has(shape)) first.set(shape, at);
    return first.get(shape)!;
  });
}

test("documents have the same shape for the kernel where they have for jsonShape", () => {
  const texts = [
    '{"a":1}',
    '{"a":"x"}',
    '{ "a" :\n -2.5e3 }',
    '{"a":"\\"{["}',
    '{"a":"\\\\"}',
    '{"a":"é, {\\u0022} and what is longer than a vector"}',
    '{"b":1}',
    '{"a":{"b":1}}',
    '{"a":[1]}',
    '{"a":[1,2,"x",true,false]}',
    '{"a":[1,null]}',
    '{"a":null}',
    '{"a":[]}',
    "{}",
    '{"":1}',
    '{"ab":1,"c":1}',
    '{"a":1,"bc":1}',
    '{"a":[{"b":1}]}',
    '{"a":[{"b":1},{"c":1}]}',
    '{"a":{"b":1},"c":1}',
    '{"a":{"b":1,"c":1}}',
    '{"a name of more than eight bytes":1}',
    '{"a name of more than eight bytea":1}',
    '{"a name of more than eight bytes":1 , "b": [ [ 1 ] , [ 2 , 3 ] ]}',
    '{"a name of more than eight bytes":1,"b":[[1,2],[3]]}',
    '"',
    '{"a',
    '{"a\\',
    "[1",
    "{]",
    "\u0000é",
    "",
  ];
  const run = runOf([...texts, ...texts]);
  const shapes = documentShapes(run, 2 * texts.length, kernel);
  const expected = shapesHere(run, 2 * texts.length);
  assert.deepEqual(groups(shapes), groups(expected));
  for (const shape of shapes) assert.ok(Number.isSafeInteger(shape) && shape >= 0);
});

test("random documents have as many shapes for the kernel as for jsonShape", () => {
  const random = new Random(7);
  const value = (depth: number): unknown => {
    const kind = random.below(depth > 3 ? 5 : 8);
    if (kind === 0) return null;
    if (kind === 1) return random.below(1000) / 8;
    if (kind === 2) return random.below(2) === 0;
    if (kind < 5) return '"\\é\n, {}[]:'.repeat(random.below(5)).slice(random.below(4));
    if (kind === 5) return Array.from({ length: random.below(4) }, () => value(depth + 1));
    return Object.fromEntries(
      Array.from({ length: random.below(4) }, () => [
        `f"\\${"x".repeat(random.below(12))}`,
        value(depth + 1),
      ]),
    );
  };
  const texts = Array.from({ length: 2_000 }, () => JSON.stringify({ a: value(0), b: value(1) }));
  const run = runOf(texts);
  assert.deepEqual(groups(documentShapes(run, texts.length, kernel)), groups(shapesHere(run, texts.length)));
  assert.equal(documentShapes(run, 0, kernel).length, 0);
});
