import assert from "node:assert/strict";
import { test } from "node:test";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import { FieldValues, type ValuesReader } from "./field-values.ts";

const unlimited = { spend: () => undefined };

test("values that couldn't be read are read again, not those of the document before", () => {
  const at = { doc: 0 };
  let fails = false;
  const reading = <T>(read: (doc: number) => T): ((doc: number) => T) => {
    return (doc) => {
      if (fails) throw new Error("unreadable");
      return read(doc);
    };
  };
  const reader: ValuesReader = {
    all: reading((doc) => [doc, doc + 1]),
    first: reading((doc) => doc),
    count: reading((doc) => doc + 2),
    shift: 0,
  };
  const mapping = Mapping.parse(
    { properties: { n: { type: "long" } } },
    { index: "test", analysis: new Analysis() },
  );
  const field = mapping.resolve("n")!;
  for (const [read, before, later] of [
    [(values: FieldValues) => values.value(unlimited), 0, 1],
    [(values: FieldValues) => values.size(unlimited), 2, 3],
    [(values: FieldValues) => values.values(), [0, 1], [1, 2]],
  ] as const) {
    const values = new FieldValues(at, field, reader);
    at.doc = 0;
    assert.deepEqual(read(values), before);
    at.doc = 1;
    fails = true;
    assert.throws(() => read(values), /unreadable/);
    assert.throws(() => read(values), /unreadable/);
    fails = false;
    assert.deepEqual(read(values), later);
  }
});
