/** Processors on documents whose numbers are whole doubles, such as 80.0, and whole numbers beyond 2^53. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { parseFields } from "./document-json.ts";
import { IngestDocument } from "./ingest-document.ts";
import { IngestPipeline } from "./ingest-pipeline.ts";

const context = {
  clock: systemClock,
  guard: new RegexpGuard({ careful: true }),
  call: () => undefined,
  hasPipeline: () => false,
  findScript: () => undefined,
  version: 717,
};

/** Returns what is stored of a document. */
function stored(processors: readonly JsonObject[], source: string): string {
  const document = new IngestDocument(parseFields(source)!, { _index: "logs" }, 0);
  new IngestPipeline({ processors }, context).run(document);
  return JSON.stringify(document.source);
}

const SORTED: readonly (readonly [given: string, sorted: string])[] = [
  ["[2.0,1.5]", "[1.5,2.0]"],
  ["[10.0,9.0]", "[9.0,10.0]"],
  ["[2,1.0,1.5]", "[1.0,1.5,2]"],
  ["[1e10,-5.0,0.5]", "[-5.0,0.5,1.0E10]"],
  ["[9007199254740995,9007199254740993,7.0]", "[7.0,9007199254740993,9007199254740995]"],
  ['["b","a"]', '["a","b"]'],
];

for (const [given, sorted] of SORTED) {
  test(`sort makes ${sorted} of ${given}`, () => {
    assert.equal(stored([{ sort: { field: "l" } }], `{"l":${given}}`), `{"l":${sorted}}`);
  });
}

test("sort takes a list that was converted to doubles, and refuses one with a text", () => {
  const processors = [{ convert: { field: "l", type: "double" } }, { sort: { field: "l", order: "desc" } }];
  assert.equal(stored(processors, '{"l":["9","10",11.5]}'), '{"l":[11.5,10.0,9.0]}');
  assert.throws(() => stored([{ sort: { field: "l" } }], '{"l":[1.0,"b"]}'), {
    message: "class java.lang.Double cannot be cast to class java.lang.String",
  });
});

test("community_id takes ports and protocols of any kind of number, without their fractions", () => {
  const flow = (transport: string, port: string): string =>
    `{"source":{"ip":"66.35.250.204","port":${port}},"destination":{"ip":"128.232.110.120","port":34855.0},"network":{"transport":${transport}}}`;
  for (const [transport, port] of [
    ['"tcp"', "80.0"],
    ["6.0", "80.5"],
    ["6", '"80"'],
  ] as const)
    assert.match(
      stored([{ community_id: {} }], flow(transport, port)),
      /"community_id":"1:LQU9qZlK\+B5F3KDmev6m5PMibrg="/,
    );
  assert.throws(() => stored([{ community_id: {} }], flow("6", '"80.0"')), /unable to parse source port/);
  assert.throws(() => stored([{ community_id: {} }], flow("6", "70000.0")), /invalid source port \[70000\]/);
});

test("large whole doubles have an exponent afterwards", () => {
  const source = stored([{ set: { field: "seen", value: "yes" } }], '{"at":1700000000000.0}');
  assert.equal(source, '{"at":1.7E12,"seen":"yes"}');
});
