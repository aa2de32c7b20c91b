import assert from "node:assert/strict";
import { test } from "node:test";
import { type Compiled, runEvents } from "#hub/pipeline/program/compile.ts";
import { Event } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { compileText, readCases } from "./suite.ts";

interface Check {
  readonly actual: { readonly $path?: readonly (readonly unknown[])[] };
  readonly not: boolean;
  readonly m: { readonly matcher: string; readonly args: readonly unknown[] };
}

interface FilterCase {
  readonly file: string;
  readonly name: string;
  readonly config: string;
  readonly input: unknown;
  readonly checks: readonly Check[];
}

/** Cases that pass of the filters that there are; more is welcome, less is a step back. */
const PASSING = 254;

const { cases, missing } = readCases<FilterCase>("filter-cases.json");

test("filters and conditions follow their specifications", { skip: missing }, () => {
  let passing = 0;
  let offered = 0;
  for (const each of cases) {
    // Ruby doesn't run here; that it is refused is tested elsewhere.
    if (/\bruby\s*\{/.test(each.config)) continue;
    const why = failure(each);
    offered++;
    if (why === "") passing++;
    else if (process.env["TAILRACE_CONFORMANCE_SHOW"] !== undefined) {
      process.stdout.write(
        `${each.file}: ${each.name}\n  ${why}\n  ${each.config.replace(/\s+/g, " ")}\n  ${JSON.stringify(each.input)}\n`,
      );
    }
  }
  process.stdout.write(`filters: ${passing} of ${offered} cases pass, ${cases.length - offered} need ruby\n`);
  assert.ok(passing >= PASSING, `${passing} cases pass, ${PASSING} did before`);
});

/** Returns what is wrong, or nothing. */
function failure({ config, input, checks }: FilterCase): string {
  const compiled = compileText(config);
  const expectsFault = checks.some(({ m, not }) => m.matcher === "raise_error" && !not);
  const faults = compiled.diagnostics
    .filter(({ severity }) => severity === "error")
    .map(({ message }) => message);
  if (expectsFault) return faults.length > 0 ? "" : "no fault was found";
  if (faults.length > 0) return faults.join("; ");
  const results = run(compiled, input);
  if (typeof results === "string") return results;
  for (const check of checks) {
    const value = (check.actual.$path ?? []).reduce<unknown>(
      step,
      results.length === 1 ? results[0] : results,
    );
    if (matches(check.m, value) === check.not) {
      return `${JSON.stringify(check)}, but is ${JSON.stringify(plain(value))}`;
    }
  }
  return "";
}

function run({ program }: Compiled, input: unknown): Event[] | string {
  const events = (Array.isArray(input) ? input : [input]).map((each: unknown) => {
    const fields =
      typeof each === "string" ? { message: each } : structuredClone(each as Record<string, unknown>);
    return new Event(fields, Date.UTC(2020, 0, 1));
  });
  const { finished, refused } = runEvents(program, events);
  return refused.length > 0 ? `refused: ${refused[0]!.reason}` : finished;
}

function step(value: unknown, [method, argument]: readonly unknown[]): unknown {
  if (method === "get")
    return value instanceof Event ? value.get(fieldReference(String(argument))) : undefined;
  if (method === "index") {
    if (Array.isArray(value)) return value[Number(argument)];
    if (value instanceof Event && argument === 0) return value;
    return value instanceof Event
      ? value.get(fieldReference(String(argument)))
      : (value as Record<string, unknown> | undefined)?.[String(argument)];
  }
  if (method === "count" || method === "length")
    return Array.isArray(value) ? value.length : value instanceof Event ? 1 : String(value).length;
  if (method === "include?") return contains(value, argument);
  return value;
}

function matches({ matcher, args }: Check["m"], value: unknown): boolean {
  const [expected] = args;
  switch (matcher) {
    case "eq":
    case "eql":
      return same(value, expected);
    case "be_nil":
      return value === undefined || value === null;
    case "include":
    case "include?":
      return args.every((each) => contains(value, each));
    case "be_within.of":
      return Math.abs(Number(plain(value)) - Number(args[1])) <= Number(expected);
    case "be_a":
    case "be_an":
      return value !== undefined && value !== null;
    default:
      return false;
  }
}

function contains(value: unknown, part: unknown): boolean {
  if (value instanceof Event)
    return typeof part === "string" ? value.has(fieldReference(part)) : contains(value.fields, part);
  if (typeof value === "string") return value.includes(String(part));
  if (Array.isArray(value)) return value.some((each) => same(each, part));
  if (value === null || typeof value !== "object") return false;
  if (typeof part === "string") return Object.hasOwn(value, part);
  return Object.entries(part as object).every(([key, item]) =>
    same((value as Record<string, unknown>)[key], item),
  );
}

function same(value: unknown, expected: unknown): boolean {
  try {
    assert.deepEqual(plain(value) ?? null, expected ?? null);
    return true;
  } catch {
    return false;
  }
}

function plain(value: unknown): unknown {
  return value === undefined
    ? undefined
    : JSON.parse(JSON.stringify(value instanceof Event ? value.fields : value));
}
