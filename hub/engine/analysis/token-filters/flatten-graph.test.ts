import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Analysis } from "#hub/engine/analysis/analysis.ts";

const SYNONYMS = ["load balancing proxy, lb, reverse proxy", "vm, virtual machine"];

/** [text, filters behind the synonyms, tokens as text@position x length] */
const ROWS: readonly (readonly [text: string, behind: readonly string[], tokens: string])[] = [
  ["the lb failed", [], "the@0 lb@1x3 reverse@1 load@1 proxy@2x2 balancing@2 proxy@3 failed@4"],
  ["vm died vm", [], "vm@0x2 virtual@0 machine@1 died@2 vm@3x2 virtual@3 machine@4"],
  ["no synonym here", [], "no@0 synonym@1 here@2"],
  ["of the vm in it", ["stop"], "vm@2x2 virtual@2 machine@3"],
  ["vm of load", ["stop"], "vm@0x2 virtual@0 machine@1 load@3"],
];

suite("flatten_graph", () => {
  for (const [text, behind, tokens] of ROWS)
    test(`words of each way in ${JSON.stringify(text)} follow one another`, () => {
      const analysis = new Analysis({ filter: { s: { type: "synonym_graph", synonyms: SYNONYMS } } });
      const found = analysis
        .chain({ tokenizer: "whitespace", filters: ["s", ...behind, "flatten_graph"], charFilters: [] })
        .tokens(text);
      const printed = found.map(
        ({ text: word, position, positionLength = 1 }) =>
          `${word}@${position}${positionLength > 1 ? `x${positionLength}` : ""}`,
      );
      assert.equal(printed.sort(byPosition).join(" "), tokens.split(" ").sort(byPosition).join(" "));
      assert.deepEqual(
        found.map(({ position }) => position),
        found.map(({ position }) => position).toSorted((a, b) => a - b),
      );
    });
});

function byPosition(a: string, b: string): number {
  return Number(/@(\d+)/.exec(a)![1]) - Number(/@(\d+)/.exec(b)![1]) || (a < b ? -1 : 1);
}
