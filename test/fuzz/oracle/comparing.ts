/** Compares an answer with what is expected: each member of the expectation must be in the answer. */

/** A value that isn't known exactly. */
export class Condition {
  readonly fault: (was: unknown) => string | undefined;

  /** `fault` returns what is wrong with a value; undefined: nothing. */
  constructor(fault: (was: unknown) => string | undefined) {
    this.fault = fault;
  }
}

/** Doubles are summed in another order by each number of shards and segments. */
const SUM_ERROR = 1e-9;

/** A number within a part of its size; `slack`: what may be added to that. */
export function near(expected: number, error = SUM_ERROR, slack = 1e-9): Condition {
  return new Condition((was) =>
    typeof was === "number" && Math.abs(was - expected) <= error * Math.abs(expected) + slack
      ? undefined
      : `expected about ${expected}, was ${JSON.stringify(was)}`,
  );
}

/** A number in low..high. */
export function within(low: number, high: number): Condition {
  return new Condition((was) =>
    typeof was === "number" && was >= low && was <= high
      ? undefined
      : `expected ${low}..${high}, was ${JSON.stringify(was)}`,
  );
}

/** No number. */
export const NO_NUMBER = new Condition((was) =>
  was === null || was === "NaN" ? undefined : `expected no number, was ${JSON.stringify(was)}`,
);

/** No value. */
export const ABSENT = new Condition((was) =>
  was === undefined ? undefined : `expected none, was ${JSON.stringify(was).slice(0, 200)}`,
);

/** Returns the first difference with its path, or undefined. Members of `was` that aren't expected don't count. */
export function difference(expected: unknown, was: unknown, path = ""): string | undefined {
  if (expected === undefined) return undefined;
  if (expected instanceof Condition) {
    const fault = expected.fault(was);
    return fault === undefined ? undefined : `${path}: ${fault}`;
  }
  if (expected === null || typeof expected !== "object") {
    return expected === was
      ? undefined
      : `${path}: expected ${JSON.stringify(expected)}, was ${JSON.stringify(was)?.slice(0, 200)}`;
  }
  if (Array.isArray(expected)) return listDifference(expected, was, path);
  for (const [name, value] of Object.entries(expected)) {
    const found = difference(
      value,
      (was as Record<string, unknown> | undefined | null)?.[name],
      `${path}.${name}`,
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

function listDifference(expected: readonly unknown[], was: unknown, path: string): string | undefined {
  if (!Array.isArray(was)) return `${path}: expected a list, was ${JSON.stringify(was)?.slice(0, 200)}`;
  for (let at = 0; at < Math.min(expected.length, was.length); at++) {
    const key = (expected[at] as { key?: unknown } | null | undefined)?.key;
    const step = key === undefined ? `${at}` : `${at}: ${JSON.stringify(key)}`;
    const found = difference(expected[at], was[at], `${path}[${step}]`);
    if (found !== undefined) return found;
  }
  return expected.length === was.length
    ? undefined
    : `${path}: expected ${expected.length} entries, were ${was.length}`;
}
