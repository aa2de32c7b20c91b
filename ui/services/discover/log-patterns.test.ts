import assert from "node:assert/strict";
import { test } from "node:test";
import { PatternTree, patternClause, TREND_STEPS } from "./log-patterns.ts";

function treeOf(texts: readonly string[]): PatternTree {
  const tree = new PatternTree(0, TREND_STEPS * 10);
  for (const [number, text] of texts.entries())
    tree.add({ text, atMs: number * 10, level: text.includes("failed") ? 5 : 3 });
  return tree;
}

test("lines that differ in numbers and single words are one pattern each", () => {
  const tree = treeOf([
    "order 17 paid by anna in 12 ms",
    "order 18 paid by bert in 7 ms",
    "payment of order 19 failed: card declined",
    "order 20 paid by cleo in 30 ms",
    "payment of order 21 failed: card declined",
  ]);
  const [paid, failed, ...more] = tree.patterns();
  assert.deepEqual(paid?.tokens, ["order", "*", "paid", "by", "*", "in", "*", "ms"]);
  assert.deepEqual([paid.count, paid.level, paid.trend.slice(0, 5)], [3, 3, [1, 1, 0, 1, 0]]);
  assert.deepEqual(failed?.tokens, ["payment", "of", "order", "*", "failed:", "card", "declined"]);
  assert.deepEqual(
    [failed.count, failed.level, failed.sample],
    [2, 5, "payment of order 19 failed: card declined"],
  );
  assert.deepEqual([more, tree.others], [[], 0]);
});

test("a variable part of a word leaves the rest of it", () => {
  const [pattern] = treeOf([
    'GET /page/3?n=1 "HTTP/1.1" took=12ms',
    'GET /page/4?n=2 "HTTP/1.1" took=7ms',
  ]).patterns();
  assert.deepEqual(pattern?.tokens, ["GET", "/page/*?n=*", '"HTTP/*"', "took=*"]);
});

test("lines without a pattern in common stay apart, and lines above the limit are counted", () => {
  const texts = Array.from({ length: 600 }, (_, number) => `${"x".repeat(1 + number)} y`);
  const tree = treeOf(texts);
  assert.equal(tree.patterns().length, 500);
  assert.equal(tree.others, 100);
});

const CLAUSES: readonly (readonly [string, string | undefined])[] = [
  ["order * paid by * in * ms", 'message:"paid by" AND message:"order" AND message:"in" AND message:"ms"'],
  ['say "no" to C:\\x', 'message:"say \\"no\\" to C:\\\\x"'],
  ["* - * /page/*", undefined],
];

test("a pattern is searched for by its constant phrases, the longest first", () => {
  for (const [text, clause] of CLAUSES) assert.equal(patternClause({ tokens: text.split(" ") }), clause);
});
