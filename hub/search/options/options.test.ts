import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AppError } from "#proto/kit/errors.ts";
import { flag, integer, readOptions, refused, text, withoutEffect } from "./options.ts";
import { gatherWarnings } from "./request-version.ts";

const OPTIONS = {
  size: integer("how many", 10),
  swapped: withoutEffect(flag("they always count", true)),
  rewrite: withoutEffect(text("all score alike", undefined)),
  script: refused("use a filter"),
} as const;

/** Reads options of a request and returns its warnings. */
function warningsOf(given: Record<string, unknown>): string[] {
  const warnings = new Set<string>();
  gatherWarnings(warnings, 605, () => readOptions("match", given, OPTIONS));
  return [...warnings];
}

describe("an option without effect", () => {
  test("is answered with a warning that has the reason", () => {
    assert.deepEqual(warningsOf({ size: 1, rewrite: "scoring_boolean", swapped: false }), [
      "[match] [swapped] has no effect here: they always count",
      "[match] [rewrite] has no effect here: all score alike",
    ]);
  });

  test("is accepted without a warning where its value is the actual behaviour", () => {
    assert.deepEqual(warningsOf({ swapped: true, rewrite: null }), []);
  });

  test("is checked like any other", () => {
    assert.throws(() => warningsOf({ swapped: "perhaps" }), { code: "parsing" });
  });
});

test("an option that is refused is refused by name, with the reason", () => {
  assert.throws(() => warningsOf({ script: "x" }), {
    code: "request_invalid",
    message: "[match] [script] can't be used: use a filter",
  });
});

test("from 7.8 on a wrong value of an aggregation's option is a fault of the content", () => {
  const typeFor = (version: number): unknown => {
    try {
      gatherWarnings(new Set(), version, () => readOptions("stats", { size: "x" }, OPTIONS, "aggregation"));
    } catch (error) {
      return (error as AppError).data["type"];
    }
    return "none";
  };
  assert.deepEqual([605, 710].map(typeFor), [undefined, "x_content_parse_exception"]);
});
