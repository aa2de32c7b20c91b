/** Lengths of time of scripts: Duration, and Period of the calendar. */

import { toInteger } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { type Methods, ScriptObject, whole } from "#hub/scripts/values/values.ts";
import { DAY_MS, HOUR_MS } from "#proto/kit/units.ts";
import { monthsBetween, msBetween, plusMonths } from "./date-arithmetic.ts";
import type { Moment } from "./moment.ts";

/** A length of time: Duration.between(…). */
export class Duration extends ScriptObject {
  readonly type = "Duration";
  readonly methods = DURATION_METHODS;
  /** With a fraction: nanoseconds. */
  readonly ms: number;

  constructor(ms: number) {
    super();
    this.ms = ms;
  }

  /** Returns the time from one moment to another. Throws ClassCastException. */
  static between(from: unknown, to: unknown): Duration {
    return new Duration(msBetween(from, to));
  }

  override valueOf(): number {
    return this.ms;
  }

  override toString(): string {
    if (this.ms === 0) return "PT0S";
    const hours = Math.trunc(this.ms / HOUR_MS);
    const minutes = Math.trunc((this.ms % HOUR_MS) / 60_000);
    const seconds = (this.ms % 60_000) / 1000;
    const parts = [
      hours !== 0 && `${hours}H`,
      minutes !== 0 && `${minutes}M`,
      seconds !== 0 && `${seconds}S`,
    ];
    return `PT${parts.filter(Boolean).join("")}`;
  }
}

const DURATION_METHODS: Methods = new Map(
  Object.entries({
    toNanos: (self: Duration) => whole(BigInt(Math.round(self.ms * 1e6))),
    toMillis: (self: Duration) => Math.floor(self.ms),
    getSeconds: (self: Duration) => Math.floor(self.ms / 1000),
    getNano: (self: Duration) => Math.round((((self.ms % 1000) + 1000) % 1000) * 1e6),
    toSeconds: (self: Duration) => Math.trunc(self.ms / 1000),
    toMinutes: (self: Duration) => Math.trunc(self.ms / 60_000),
    toHours: (self: Duration) => Math.trunc(self.ms / HOUR_MS),
    toDays: (self: Duration) => Math.trunc(self.ms / DAY_MS),
    compareTo: (self: Duration, [other]: readonly unknown[]) => Math.sign(self.ms - lengthOf(other)),
    equals: (self: Duration, [other]: readonly unknown[]) =>
      other instanceof Duration && other.ms === self.ms,
    abs: (self: Duration) => new Duration(Math.abs(self.ms)),
    negated: (self: Duration) => new Duration(-self.ms),
    multipliedBy: (self: Duration, [by]: readonly unknown[]) => new Duration(self.ms * toInteger(by)),
    dividedBy: (self: Duration, [by]: readonly unknown[]) => dividedBy(self, toInteger(by)),
    plus: (self: Duration, [other]: readonly unknown[]) => new Duration(self.ms + lengthOf(other)),
    minus: (self: Duration, [other]: readonly unknown[]) => new Duration(self.ms - lengthOf(other)),
    isNegative: (self: Duration) => self.ms < 0,
    isZero: (self: Duration) => self.ms === 0,
    toString: (self: Duration) => self.toString(),
  }),
);

/** Throws ClassCastException. */
function lengthOf(value: unknown): number {
  if (value instanceof Duration) return value.ms;
  throw new ScriptException("ClassCastException", "a Duration was expected");
}

function dividedBy(self: Duration, by: number): Duration {
  if (by === 0) throw new ScriptException("ArithmeticException", "Cannot divide by zero");
  return new Duration(self.ms / by);
}

/** Years, months and days between two dates: Period.between(…). */
export class Period extends ScriptObject {
  readonly type = "Period";
  readonly methods = PERIOD_METHODS;
  readonly months: number;
  readonly days: number;

  constructor(months: number, days: number) {
    super();
    this.months = months;
    this.days = days;
  }

  /** Throws ClassCastException. */
  static between(from: unknown, to: unknown): Period {
    const months = monthsBetween(from, to);
    return new Period(months, Math.trunc(msBetween(plusMonths(from as Moment, months), to) / DAY_MS));
  }

  override toString(): string {
    const [years, months] = [Math.trunc(this.months / 12), this.months % 12];
    const parts = [
      years !== 0 && `${years}Y`,
      months !== 0 && `${months}M`,
      this.days !== 0 && `${this.days}D`,
    ];
    return `P${parts.filter(Boolean).join("") || "0D"}`;
  }
}

const PERIOD_METHODS: Methods = new Map(
  Object.entries({
    getYears: (self: Period) => Math.trunc(self.months / 12),
    getMonths: (self: Period) => self.months % 12,
    getDays: (self: Period) => self.days,
    toTotalMonths: (self: Period) => self.months,
    isNegative: (self: Period) => self.months < 0 || self.days < 0,
    isZero: (self: Period) => self.months === 0 && self.days === 0,
    toString: (self: Period) => self.toString(),
  }),
);
