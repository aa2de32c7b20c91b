/** For tests of filters: runs events through a compiled filter. */

import assert from "node:assert/strict";
import { SourceText } from "#hub/pipeline/language/syntax-tree.ts";
import { compilePipeline, loadAllPlugins, runEvents } from "#hub/pipeline/program/compile.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { Event } from "#proto/event.ts";
import type { Clock } from "#proto/kit/clock.ts";

await loadAllPlugins();

/** The time of all events, and of the clock. */
const NOW = Date.UTC(2024, 0, 5);
const clock = { now: () => NOW, monotonic: () => performance.now(), sleep: () => Promise.resolve() };

/** Returns what `filter` makes of an event with these fields, without the time that it had before. */
export function run(
  filter: string,
  fields: Record<string, unknown>,
  guard = new RegexpGuard(),
): Record<string, unknown>[] {
  return runOn(compiled(filter, clock, guard), fields);
}

/** Returns a function that runs one event through `filter`, which keeps its state from call to call; `place`: of that event. */
export function repeated(
  filter: string,
  ownClock: Clock,
  place?: () => number,
): (fields: Record<string, unknown>) => Record<string, unknown> {
  const program = compiled(filter, ownClock, new RegexpGuard(), place);
  return (fields) => runOn(program, fields)[0] ?? {};
}

type Program = ReturnType<typeof compilePipeline>["program"];

function compiled(filter: string, ownClock: Clock, guard: RegexpGuard, place?: () => number): Program {
  const source = new SourceText("test.conf", `filter { ${filter} }`);
  const { program, diagnostics } = compilePipeline([source], {
    variables: {},
    clock: ownClock,
    random: () => 0.5,
    guard,
    ...(place !== undefined && { place }),
  });
  assert.deepEqual(
    diagnostics.map(({ message }) => message),
    [],
  );
  return program;
}

function runOn(program: Program, fields: Record<string, unknown>): Record<string, unknown>[] {
  const { finished, refused } = runEvents(program, [new Event(structuredClone(fields), NOW)]);
  assert.deepEqual(refused, []);
  return finished.map((event) => {
    const { "@timestamp": time, ...rest } = JSON.parse(event.toJson()) as Record<string, unknown>;
    return time === new Date(NOW).toISOString() ? rest : { "@timestamp": time, ...rest };
  });
}
