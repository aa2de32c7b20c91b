import assert from "node:assert/strict";
import { test } from "node:test";
import { checkPriority, compose, overlay, patternsOverlap, templateFor } from "./composable-templates.ts";

const EMPTY = { settings: {}, mappings: {}, aliases: {} };

for (const [a, b, expected] of [
  ["logs-*", "logs-web", true],
  ["logs-*", "metrics-*", false],
  ["*-web", "logs-*", true],
  ["a*c", "abc*", true],
  ["a*c", "ab", false],
  ["*", "", true],
  ["a-*-some-*", "a-*-other", true],
  ["a*b*c", "*x*", true],
  ["abc", "abd", false],
] as const) {
  test(`the patterns ${a} and ${b || "(empty)"} have ${expected ? "a" : "no"} name in common`, () => {
    assert.equal(patternsOverlap([a], [b]), expected);
    assert.equal(patternsOverlap([b], [a]), expected);
  });
}

test("of the templates that fit, the one of the highest priority counts alone", () => {
  const templates = {
    low: { index_patterns: ["logs-*"], composed_of: [] },
    high: { index_patterns: ["logs-web*"], composed_of: [], priority: 10 },
    other: { index_patterns: ["x"], composed_of: [], priority: 99 },
  };
  assert.equal(templateFor("logs-web-1", templates)?.name, "high");
  assert.equal(templateFor("logs-db", templates)?.name, "low");
  assert.equal(templateFor("none", templates), undefined);
});

test("components go over each other in their order, and the template's own part over them", () => {
  const components = {
    first: {
      template: {
        settings: { number_of_replicas: 2, codec: "best_compression" },
        mappings: { properties: { a: { type: "text", fields: {} }, "host.name": { type: "text" } } },
        aliases: { all: { is_write_index: true } },
      },
    },
    second: {
      template: {
        settings: { number_of_replicas: 1 },
        mappings: { properties: { a: { type: "keyword" }, host: { properties: { ip: { type: "ip" } } } } },
      },
    },
  };
  const template = {
    index_patterns: ["x"],
    composed_of: ["first", "second", "not there"],
    template: { settings: { number_of_replicas: 0 }, aliases: { all: { filter: { match_all: {} } } } },
  };
  assert.deepEqual(compose(template, components), {
    settings: { number_of_replicas: 0, codec: "best_compression" },
    mappings: {
      properties: {
        a: { type: "keyword" },
        host: { properties: { name: { type: "text" }, ip: { type: "ip" } } },
      },
    },
    aliases: { all: { filter: { match_all: {} } } },
  });
});

test("dynamic templates of the same name are replaced at their index, others are appended", () => {
  const named = (name: string, type: string) => ({ [name]: { mapping: { type } } });
  const below = { ...EMPTY, mappings: { dynamic_templates: [named("a", "text"), named("b", "text")] } };
  const above = { mappings: { dynamic_templates: [named("c", "long"), named("a", "keyword")] } };
  assert.deepEqual(overlay(below, above).mappings["dynamic_templates"], [
    named("a", "keyword"),
    named("b", "text"),
    named("c", "long"),
  ]);
});

test("two templates of one priority can't fit the same name", () => {
  const there = { taken: { index_patterns: ["logs-*"], composed_of: [], priority: 5 } };
  const made = { index_patterns: ["logs-web"], composed_of: [] };
  assert.throws(() => checkPriority("new", { ...made, priority: 5 }, there), {
    code: "request_invalid",
    message: /existing templates \[taken\] with patterns \(taken => \[logs-\*\]\).* the same priority \[5\]/,
  });
  checkPriority("new", { ...made, priority: 6 }, there);
  checkPriority("taken", { ...made, priority: 5 }, there);
});
