import assert from "node:assert/strict";
import { test } from "node:test";
import { didYouMean, nearestName } from "./nearest.ts";

for (const [name, candidates, nearest] of [
  ["drpo", ["drop", "date"], "drop"],
  ["HTTP.prot", ["http.port", "nats.port"], "http.port"],
  ["grok", ["grok"], "grok"],
  ["inputs", ["shipper.inputs", "output.x"], "shipper.inputs"],
  ["port", ["http.port", "nats.port"], undefined],
  ["x", [], undefined],
  ["entirely-different", ["drop", "date"], undefined],
] as const) {
  test(`of ${candidates.join(", ") || "nothing"} the nearest to ${name} is ${nearest ?? "none"}`, () => {
    assert.equal(nearestName(name, candidates), nearest);
  });
}

test("the hint is empty where nothing is near", () => {
  assert.equal(didYouMean("drpo", ["drop"]), '; did you mean "drop"?');
  assert.equal(didYouMean("zzzzzz", ["drop"]), "");
});
