import assert from "node:assert/strict";
import { test } from "node:test";
import { runEvents } from "#hub/pipeline/program/compile.ts";
import { Event } from "#proto/event.ts";
import { compileText, readCases } from "./suite.ts";

interface GrokCase {
  readonly mode: "legacy" | "ecs-v1";
  readonly match: Readonly<Record<string, string>>;
  readonly message: string;
  readonly matched: boolean;
  readonly event: Readonly<Record<string, unknown>>;
  readonly name: string;
}

/** Cases that pass; more is welcome, less is a step back. */
const PASSING = 457;

const { cases, missing } = readCases<GrokCase>("grok-cases.json");

test("grok extracts the same fields as the reference implementation", { skip: missing }, () => {
  const failing = cases
    .map((each) => ({ name: `${each.mode} ${each.name}`, why: difference(each) }))
    .filter(({ why }) => why !== "");
  const show = process.env["TAILRACE_CONFORMANCE_SHOW"] === undefined ? [] : failing;
  for (const { name, why } of show) process.stdout.write(`${name}\n  ${why}\n`);
  const passing = cases.length - failing.length;
  process.stdout.write(`grok: ${passing} of ${cases.length} cases pass\n`);
  assert.ok(passing >= PASSING, `${passing} cases pass, ${PASSING} did before`);
});

function difference({ mode, match, message, matched, event }: GrokCase): string {
  const entries = Object.entries(match).map(([field, pattern]) => `${quoted(field)} => ${quoted(pattern)}`);
  const ecs = mode === "legacy" ? "disabled" : "v1";
  const text = `filter { grok { match => { ${entries.join(" ")} } ecs_compatibility => ${ecs} } }`;
  const { program, diagnostics } = compileText(text);
  // Warnings are for people: a case may leave a reference unclosed, which is text to the expression.
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (errors.length > 0) return errors.map((each) => each.message).join("; ");
  const { finished } = runEvents(program, [new Event({ message }, 0)]);
  const fields = JSON.parse(finished[0]!.toJson()) as Record<string, unknown>;
  const metadata = finished[0]!.metadata;
  if (Object.keys(metadata).length > 0) fields["@metadata"] = metadata;
  const failed = Array.isArray(fields["tags"]);
  if (failed === matched) return matched ? "it doesn't match" : "it matches";
  for (const each of [fields, event])
    for (const own of ["@timestamp", "@version", "tags"]) delete (each as Record<string, unknown>)[own];
  try {
    assert.deepEqual(fields, event);
    return "";
  } catch {
    return `got ${JSON.stringify(fields)}\n  not ${JSON.stringify(event)}`;
  }
}

function quoted(text: string): string {
  return text.includes('"') ? `'${text}'` : `"${text}"`;
}
