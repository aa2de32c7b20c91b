/** Constants of dates: days of the week, months; the type of units and fields. */

import { toInteger } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { type Methods, ScriptObject } from "#hub/scripts/values/values.ts";

const DAYS = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];
const MONTHS = "JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER NOVEMBER DECEMBER".split(
  " ",
);

/** A constant of the language: DayOfWeek.MONDAY, ChronoUnit.DAYS, a zone. Its `value` prints as the constant. */
export class Constant extends ScriptObject {
  readonly type: string;
  readonly methods: Methods;
  readonly name: string;
  readonly ordinal: number;

  constructor(type: string, name: string, ordinal: number, methods: Methods = CONSTANT_METHODS) {
    super();
    this.type = type;
    this.name = name;
    this.ordinal = ordinal;
    this.methods = methods;
  }

  override toString(): string {
    return this.name;
  }

  override valueOf(): number {
    return this.ordinal;
  }
}

export const CONSTANT_METHODS: Methods = new Map(
  Object.entries({
    getValue: (self: Constant) => self.ordinal,
    ordinal: (self: Constant) => self.ordinal - (self.type === "DayOfWeek" || self.type === "Month" ? 1 : 0),
    name: (self: Constant) => self.name,
    getId: (self: Constant) => self.name,
    toString: (self: Constant) => self.name,
    equals: (self: Constant, [other]: readonly unknown[]) =>
      other instanceof Constant && other.name === self.name,
    getDisplayName: (self: Constant, [style]: readonly unknown[]) => displayName(self.name, String(style)),
    plus: (self: Constant, [count]: readonly unknown[]) => shifted(self, toInteger(count)),
    minus: (self: Constant, [count]: readonly unknown[]) => shifted(self, -toInteger(count)),
  }),
);

/** English, whatever the locale. `style`: of TextStyle. */
function displayName(name: string, style: string): string {
  const full = name.charAt(0) + name.slice(1).toLowerCase();
  if (style.startsWith("NARROW")) return full.charAt(0);
  return style.startsWith("SHORT") ? full.slice(0, 3) : full;
}

/** The day of the week or month that is `count` after one. */
function shifted({ type, ordinal }: Constant, count: number): Constant {
  const size = type === "DayOfWeek" ? DAYS.length : MONTHS.length;
  const at = (((ordinal - 1 + count) % size) + size) % size;
  return type === "DayOfWeek" ? dayOfWeek(at + 1) : monthOfYear(at + 1);
}

/** Returns the constant DayOfWeek, 1 (Monday) to 7. Throws DateTimeException for others. */
export function dayOfWeek(day: number): Constant {
  return new Constant("DayOfWeek", nameAt(DAYS, day, "DayOfWeek"), day);
}

/** Returns the constant Month, 1 (January) to 12. Throws DateTimeException for others. */
export function monthOfYear(month: number): Constant {
  return new Constant("Month", nameAt(MONTHS, month, "MonthOfYear"), month);
}

function nameAt(names: readonly string[], ordinal: number, field: string): string {
  const name = names[ordinal - 1];
  if (name === undefined)
    throw new ScriptException("DateTimeException", `Invalid value for ${field}: ${ordinal}`);
  return name;
}
