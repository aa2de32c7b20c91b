/** Contract of filters; run over all of them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { SourceText } from "#hub/pipeline/language/syntax-tree.ts";
import type { FilterDefinition } from "#hub/pipeline/plugins/filter.ts";
import { compilePipeline, loadAllPlugins, runEvents } from "#hub/pipeline/program/compile.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { Event } from "#proto/event.ts";
import { systemClock } from "#proto/kit/clock.ts";

await loadAllPlugins();
const guard = new RegexpGuard();

/** A filter with options under which it works. */
export interface FilterSubject {
  readonly definition: FilterDefinition;
  /** Options as they stand in a pipeline, e.g. `source => "message"`. */
  readonly options: string;
}

/** Values that data brings and nobody thought of. */
const ODD_VALUES: readonly unknown[] = [
  "",
  " ",
  "text",
  "%{unclosed",
  "a=b c=[d",
  "\u0000\ud800",
  "x".repeat(10_000),
  0,
  -1.5,
  Number.MAX_SAFE_INTEGER,
  true,
  false,
  null,
  [],
  ["a", null, 3, { b: [1] }],
  {},
  { a: { b: { c: "d" } }, "": 1 },
  [[["deep"]]],
];

/** Declares the tests. */
export function testFilter({ definition, options }: FilterSubject): void {
  const { name } = definition;
  const compile = (more = "") => {
    const source = new SourceText("contract.conf", `filter { ${name} { ${options} ${more} } }`);
    return compilePipeline([source], {
      variables: {},
      clock: systemClock,
      random: () => 0.5,
      guard,
    });
  };

  test(`${name} documents itself and each option`, () => {
    assert.match(definition.description, /^[a-z].{10,}[^.]$/);
    for (const [option, schema] of Object.entries(definition.options.properties)) {
      assert.ok((schema as { description?: string }).description, `option ${option} has no description`);
    }
  });

  test(`${name} takes the decorations of all filters and refuses unknown options`, () => {
    const decorations =
      'id => "x" add_field => { "f" => "v" } add_tag => ["t"] remove_field => ["f"] remove_tag => ["t"]';
    assert.deepEqual(compile(decorations).diagnostics, []);
    const [fault] = compile("no_such_option => 1").diagnostics;
    assert.match(fault?.message ?? "", new RegExp(`^filter ${name} has no option "no_such_option"$`));
  });

  test(`${name} never throws, whatever a field holds, and leaves events that are JSON`, () => {
    for (const value of ODD_VALUES) {
      const { program } = compile();
      const fields = {
        message: structuredClone(value),
        a: structuredClone(value),
        tags: structuredClone(value),
      };
      const { finished, refused } = runEvents(program, [new Event(fields, 0)]);
      assert.deepEqual(
        refused.map(({ reason }) => reason),
        [],
        `${name} with ${JSON.stringify(value)?.slice(0, 80)}`,
      );
      for (const event of finished) assert.ok(JSON.parse(event.toJson()));
    }
  });

  test(`${name} does the same to the same events`, () => {
    const run = (): string[] => {
      const { program } = compile();
      const events = ["a=1 b=2", "2024-01-02T03:04:05Z x", '{"k":"v"}', "1.2.3.4"].map(
        (message) => new Event({ message }, 0),
      );
      return runEvents(program, events).finished.map((event) => event.toJson());
    };
    if (name !== "uuid") assert.deepEqual(run(), run());
  });
}
