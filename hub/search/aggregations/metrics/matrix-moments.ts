/**
 * Running moments of several numbers a document, and of their pairs (P. Pébay, "Formulas for Robust, One-Pass Parallel
 * Computation of Covariances and Arbitrary-Order Statistical Moments", 2008).
 */

import { hashOrder } from "#hub/scripts/values/hash-order.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { fraction } from "#proto/kit/number-text.ts";

/** Numbers of the fields, in their order. JSON-able. */
export interface Moments {
  /** Documents. */
  count: number;
  readonly sums: number[];
  readonly means: number[];
  /** Sums of the 2nd, 3rd and 4th powers of the differences from the mean. */
  readonly second: number[];
  readonly third: number[];
  readonly fourth: number[];
  /** Sums of the products of two fields' differences, by row; the half above the diagonal. */
  readonly products: number[][];
}

/** Returns the moments of no document. */
export function noMoments(fields: number): Moments {
  const zeros = (): number[] => new Array<number>(fields).fill(0);
  return {
    count: 0,
    sums: zeros(),
    means: zeros(),
    second: zeros(),
    third: zeros(),
    fourth: zeros(),
    products: Array.from({ length: fields }, zeros),
  };
}

/** Adds a document's values, one a field. */
export function addDocument(moments: Moments, values: readonly number[]): void {
  const n = ++moments.count;
  const deltas = values.map((value, field) => {
    moments.sums[field]! += value;
    addPowers(moments, field, value);
    return value * n - moments.sums[field]!;
  });
  if (n === 1) return;
  for (let row = 0; row < deltas.length; row++) {
    for (let column = row + 1; column < deltas.length; column++)
      moments.products[row]![column]! += (1 / (n * (n - 1))) * deltas[row]! * deltas[column]!;
  }
}

function addPowers({ count: n, means, second, third, fourth }: Moments, field: number, value: number): void {
  if (n === 1) {
    means[field] = value;
    return;
  }
  const d = value - means[field]!;
  const dn = d / n;
  const t = d * dn * (n - 1);
  const [m2, m3] = [second[field]!, third[field]!];
  means[field]! += dn;
  second[field] = m2 + t;
  third[field] = m3 + (t * dn * (n - 2) - 3 * dn * m2);
  fourth[field]! += t * dn * dn * (n * n - 3 * n + 3) + 6 * dn * dn * m2 - 4 * dn * m3;
}

/** Returns the moments of both. */
export function mergeMoments(a: Moments, b: Moments): Moments {
  if (a.count === 0) return b;
  if (b.count === 0) return a;
  const [nA, nB] = [a.count, b.count];
  const n = nA + nB;
  const merged = noMoments(a.means.length);
  merged.count = n;
  // The reference implementation takes the differences of pairs from the sums: the last digit depends on it.
  const deltas = a.sums.map((sum, field) => b.sums[field]! / nB - sum / nA);
  for (const field of deltas.keys()) {
    const d = b.means[field]! - a.means[field]!;
    const [a2, b2] = [a.second[field]!, b.second[field]!];
    const [a3, b3] = [a.third[field]!, b.third[field]!];
    merged.sums[field] = a.sums[field]! + b.sums[field]!;
    merged.means[field] = (nA * a.means[field]! + nB * b.means[field]!) / n;
    merged.second[field] = a2 + b2 + (d * d * nA * nB) / n;
    merged.third[field] =
      a3 + b3 + (d ** 3 * nA * nB * (nA - nB)) / n ** 2 + (3 * d * (nA * b2 - nB * a2)) / n;
    merged.fourth[field] =
      a.fourth[field]! +
      b.fourth[field]! +
      (d ** 4 * nA * nB * (nA * nA - nA * nB + nB * nB)) / n ** 3 +
      (6 * d * d * (nA * nA * b2 + nB * nB * a2)) / n ** 2 +
      (4 * d * (nA * b3 - nB * a3)) / n;
    for (let column = field + 1; column < deltas.length; column++)
      merged.products[field]![column] =
        a.products[field]![column]! +
        (b.products[field]![column]! + ((nA * nB) / n) * deltas[field]! * deltas[column]!);
  }
  return merged;
}

/** Returns the statistics of each field, in the order of the reference implementation's hash table. */
export function statisticsOf(names: readonly string[], moments: Moments): JsonObject[] {
  const { count: n } = moments;
  return fieldOrder(names).map((name) => {
    const field = names.indexOf(name);
    const second = moments.second[field]!;
    return {
      name,
      count: n,
      mean: fraction(moments.means[field]!),
      variance: finite(second / (n - 1)),
      skewness: finite((Math.sqrt(n) * moments.third[field]!) / second ** 1.5),
      kurtosis: finite((n * moments.fourth[field]!) / (second * second)),
      covariance: byField(names, (other) => covariance(moments, field, other)),
      correlation: byField(names, (other) => correlation(moments, field, other)),
    };
  });
}

function byField(names: readonly string[], valueFor: (field: number) => number): JsonObject {
  return Object.fromEntries(fieldOrder(names).map((name) => [name, finite(valueFor(names.indexOf(name)))]));
}

function covariance(moments: Moments, a: number, b: number): number {
  const sum = a === b ? moments.second[a]! : moments.products[Math.min(a, b)]![Math.max(a, b)]!;
  return sum / (moments.count - 1);
}

function correlation(moments: Moments, a: number, b: number): number {
  if (a === b) return 1;
  const deviation = (field: number): number => Math.sqrt(moments.second[field]! / (moments.count - 1));
  return covariance(moments, a, b) / (deviation(a) * deviation(b));
}

/** JSON has no NaN: the reference implementation prints it as a text. */
function finite(value: number): unknown {
  return Number.isFinite(value)
    ? fraction(value)
    : Number.isNaN(value)
      ? "NaN"
      : value > 0
        ? "Infinity"
        : "-Infinity";
}

/** Returns the names in the order in which a Java HashMap iterates over them. */
export function fieldOrder(names: readonly string[]): string[] {
  return hashOrder(names, (name) => name);
}
