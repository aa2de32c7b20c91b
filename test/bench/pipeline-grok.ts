/** The filter grok alone, in memory: events with a line in, documents out. */

import { SourceText } from "#hub/pipeline/language/syntax-tree.ts";
import { compilePipeline, loadAllPlugins, runEvents } from "#hub/pipeline/program/compile.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { Event } from "#proto/event.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { Result } from "./benchmark.ts";

const GROK = 'filter { grok { match => { "message" => "^%{COMBINEDAPACHELOG}" } } }';
const EVENTS_AT_ONCE = 500;
const ROUNDS = 5;
const AT_LEAST = 240_000;

/** Measures `lines`, which all match; the best of some rounds, the first of which warm the compilers. */
export async function grokAlone(lines: readonly string[]): Promise<Result> {
  await loadAllPlugins();
  const { program } = compilePipeline([new SourceText("bench.conf", GROK)], {
    variables: {},
    clock: systemClock,
    random: Math.random,
    guard: new RegexpGuard(),
  });
  let value = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    let matched = 0;
    for (let at = 0; at < lines.length; at += EVENTS_AT_ONCE) {
      const timeMs = systemClock.now();
      const events = lines.slice(at, at + EVENTS_AT_ONCE).map((message) => new Event({ message }, timeMs));
      for (const event of runEvents(program, events).finished)
        if (event.toJson().includes('"clientip":"')) matched++;
    }
    const { user, system } = process.cpuUsage(before);
    if (matched !== lines.length) throw new Error(`grok matched ${matched} of ${lines.length} lines`);
    value = Math.max(value, lines.length / ((user + system) / 1e6));
  }
  return {
    case: "grok alone, event to JSON",
    value,
    unit: "events per CPU-second",
    reference: null,
    target: { atLeast: AT_LEAST },
  };
}
