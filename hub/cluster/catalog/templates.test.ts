import assert from "node:assert/strict";
import { test } from "node:test";
import { applyTemplates } from "./templates.ts";

const named = (name: string, mapping: object): object => ({ [name]: { match: "*", mapping } });
const definition = (...templates: object[]) => ({
  settings: {},
  mappings: { dynamic_templates: templates },
  aliases: {},
});

test("dynamic templates override those of the same name and come before the others", () => {
  const template = {
    order: 0,
    index_patterns: ["shop-*"],
    ...definition(named("a", { type: "text" }), named("b", { type: "keyword", norms: false })),
  };
  const own = definition(named("c", { type: "long" }), named("b", { type: "text" }));
  assert.deepEqual(applyTemplates("shop-1", [template], own).mappings["dynamic_templates"], [
    named("c", { type: "long" }),
    named("b", { type: "text", norms: false }),
    named("a", { type: "text" }),
  ]);
});
