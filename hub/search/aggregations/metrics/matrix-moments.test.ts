import assert from "node:assert/strict";
import { test } from "node:test";
import { addDocument, type Moments, mergeMoments, noMoments } from "./matrix-moments.ts";

const DOCUMENTS = Array.from({ length: 200 }, (_, at) => [at * at * 0.137 - 40, ((at * 7_919) % 101) / 3]);

function momentsOf(documents: readonly number[][]): Moments {
  const moments = noMoments(2);
  for (const values of documents) addDocument(moments, values);
  return moments;
}

function numbersOf({ count, sums, means, second, third, fourth, products }: Moments): number[] {
  return [count, ...sums, ...means, ...second, ...third, ...fourth, ...products.flat()];
}

for (const sizes of [[200], [1, 199], [100, 0, 100], [3, 50, 7, 140]]) {
  test(`moments of parts of ${sizes.join(", ")} documents are those of all, up to rounding`, () => {
    let from = 0;
    const parts = sizes.map((size) => momentsOf(DOCUMENTS.slice(from, (from += size))));
    const whole = numbersOf(momentsOf(DOCUMENTS));
    for (const merged of [
      parts.reduce(mergeMoments),
      parts.reduceRight((after, before) => mergeMoments(before, after)),
    ])
      for (const [at, number] of numbersOf(merged).entries())
        assert.ok(
          Math.abs(number - whole[at]!) <= 1e-9 * Math.max(1, Math.abs(whole[at]!)),
          `${at}: ${number}`,
        );
  });
}
