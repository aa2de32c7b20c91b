import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { KeywordColumn } from "#hub/engine/searcher/searcher.ts";
import { ColumnRegisters, DistinctCounter, hashBytes, hashNumber } from "./hyper-log-log.ts";
import { TDigest } from "./t-digest.ts";

/** The values of a column, and how many were read. */
function textColumn(name: string, cardinality: number) {
  let read = 0;
  const bytes = (ordinal: number): Uint8Array => Buffer.from(`${name} ${ordinal}`);
  const reader = {
    bytes(ordinal: number) {
      read++;
      return bytes(ordinal);
    },
  };
  const column = { cardinality, reader: () => reader } as unknown as KeywordColumn;
  return { column, bytes, read: () => read };
}

describe("distinct counts", () => {
  for (const count of [1, 100, 3000, 10_000, 200_000]) {
    test(`of ${count} values are ${count <= 3000 ? "exact" : "within 3 %"}, repeated or merged`, () => {
      const counters = [new DistinctCounter(3000), new DistinctCounter(3000)];
      for (let value = 0; value < count; value++) {
        counters[value % 2]!.add(hashNumber(value));
        counters[0]!.add(hashNumber(value % 50));
      }
      const merged = new DistinctCounter(3000);
      for (const counter of counters)
        merged.merge(JSON.parse(JSON.stringify(counter.state())) as ReturnType<DistinctCounter["state"]>);
      const found = merged.count();
      if (count <= 3000) assert.equal(found, Math.max(count, Math.min(50, count)));
      else assert.ok(Math.abs(found - count) < count * 0.03, String(found));
    });
  }

  test("of a column's values by their registers are those by their hashes", () => {
    const [values, limit] = [20_000, 200_000];
    const columns = [0, 1, 2].map((at) => textColumn(`column-${at}`, values));
    const registers = new ColumnRegisters(limit);
    const counts = new Int32Array(values).map((_, ordinal) => ordinal % 3);
    for (const column of [...columns, ...columns]) {
      const [hashed, counted] = [new DistinctCounter(3000), new DistinctCounter(3000)];
      for (const [ordinal, count] of counts.entries())
        if (count > 0) hashed.add(hashBytes(column.bytes(ordinal)));
      counted.addCounted(counts, registers.open(column.column, values)!);
      assert.deepEqual(counted.state(), hashed.state());
    }
    // Those of two columns fit; the ones that came first go.
    assert.equal(columns[0]!.read(), 2 * values);
    const read = columns[2]!.read();
    registers.open(columns[2]!.column, values);
    assert.equal(columns[2]!.read(), read);
    const few = textColumn("few", values);
    assert.equal(registers.open(few.column, values / 5), undefined);
    assert.equal(registers.open(textColumn("large", limit / 4 + 1).column, limit), undefined);
  });

  test("of very many columns with few values keep the registers of some", () => {
    const registers = new ColumnRegisters(100_000);
    const columns = Array.from({ length: 1000 }, (_, at) => textColumn(`column-${at}`, 2));
    for (const { column } of columns) registers.open(column, 2);
    const [first, last] = [columns[0]!, columns.at(-1)!];
    for (const { column } of [last, first]) registers.open(column, 2);
    assert.deepEqual([first.read(), last.read()], [4, 2]);
  });

  test("distinguish texts", () => {
    const hashes = new Set(Array.from({ length: 50_000 }, (_, at) => hashBytes(Buffer.from(`host-${at}`))));
    assert.equal(hashes.size, 50_000);
  });
});

describe("digests", () => {
  test("of few values are exact", () => {
    const digest = new TDigest(100);
    for (const value of [10, 20, 30, 50]) digest.add(value);
    assert.deepEqual(
      [0, 0.5, 1].map((share) => digest.quantile(share)),
      [10, 25, 50],
    );
    const hundred = new TDigest(100);
    for (let value = 1; value <= 100; value++) hundred.add(value);
    // As a 6.5 server has them: a value stands at the middle of its share.
    assert.deepEqual([hundred.quantile(0.01), hundred.quantile(0.99)], [1.5, 99.5]);
    assert.equal(digest.rank(5), 0);
    assert.equal(digest.rank(50), 1);
    assert.ok(Number.isNaN(new TDigest(100).quantile(0.5)));
  });

  test("of few values have the ranks and percentiles of a 6.5 server", () => {
    const digest = new TDigest(100);
    for (const value of [-5, 0, 7, 7, 7, 20, 21]) digest.add(value);
    const points = [-8, -7, -5, 0, 4.25, 7, 19.25, 20.25, 21];
    assert.deepEqual(
      points.map((value) => digest.rank(value) * 100),
      [
        0, 1.4285714285714286, 7.142857142857142, 20.238095238095237, 31.63265306122449, 57.14285714285714,
        83.16326530612244, 85.20408163265306, 100,
      ],
    );
    assert.deepEqual([digest.quantile(0.1), digest.quantile(0.66)], [-3.9999999999999996, 8.560000000000002]);
    const three = new TDigest(100);
    for (const value of [0, 12, 108]) three.add(value);
    assert.deepEqual([three.rank(54) * 100, three.rank(61)], [62.96296296296296, 1]);
  });

  test("of many values are within half a percent of the rank, most exact at the ends, in bounded memory", () => {
    const parts = Array.from({ length: 4 }, () => new TDigest(100));
    let seed = 42;
    const values: number[] = [];
    for (let at = 0; at < 100_000; at++) {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
      const value = Math.exp((seed / 0x7fff_ffff) * 10);
      values.push(value);
      parts[at % 4]!.add(value);
    }
    values.sort((a, b) => a - b);
    const digest = new TDigest(100);
    digest.merge(parts.map((part) => part.state()));
    // A centroid is two numbers; their number grows with the logarithm of the values.
    assert.ok(digest.state().centroids.length <= 2 * 600);
    for (const share of [0.001, 0.01, 0.25, 0.5, 0.75, 0.99, 0.999]) {
      const found = digest.quantile(share);
      const rank = values.findIndex((value) => value >= found) / values.length;
      const allowed = share < 0.01 || share > 0.99 ? 0.0002 : 0.005;
      assert.ok(Math.abs(rank - share) < allowed, `${share} is at ${rank}`);
      assert.ok(Math.abs(digest.rank(found) - share) < 0.01);
    }
  });
});
