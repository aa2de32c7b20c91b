/** TemporalAdjusters: functions that move a date to another day, keeping its time. */

import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { Callable } from "#hub/scripts/values/values.ts";
import { daysOfMonth, withLocal } from "./date-arithmetic.ts";
import { Constant } from "./date-constants.ts";
import { Moment } from "./moment.ts";

/** Changes the wall clock's time to another day. */
type Move = (local: Date) => void;

function adjuster(move: Move): Callable {
  return new Callable((date) => {
    if (date instanceof Moment) return withLocal(date, move);
    throw new ScriptException("ClassCastException", "a date was expected");
  });
}

/** Moves by days to a day of the week; a date on that day moves by `same` days. */
function toWeekday(given: unknown, sign: 1 | -1, same: 0 | 7): Callable {
  if (!(given instanceof Constant))
    throw new ScriptException("ClassCastException", "a DayOfWeek was expected");
  return adjuster((local) => {
    const days = (((given.ordinal - local.getUTCDay()) * sign + 7) % 7 || same) * sign;
    local.setUTCDate(local.getUTCDate() + days);
  });
}

/** Static methods of the class. */
export const ADJUSTERS = {
  firstDayOfMonth: () => adjuster((local) => local.setUTCDate(1)),
  lastDayOfMonth: () => adjuster((local) => local.setUTCDate(daysOfMonth(local))),
  firstDayOfNextMonth: () => adjuster((local) => local.setUTCMonth(local.getUTCMonth() + 1, 1)),
  firstDayOfYear: () => adjuster((local) => local.setUTCMonth(0, 1)),
  lastDayOfYear: () => adjuster((local) => local.setUTCMonth(11, 31)),
  firstDayOfNextYear: () => adjuster((local) => local.setUTCFullYear(local.getUTCFullYear() + 1, 0, 1)),
  next: ([day]: readonly unknown[]) => toWeekday(day, 1, 7),
  nextOrSame: ([day]: readonly unknown[]) => toWeekday(day, 1, 0),
  previous: ([day]: readonly unknown[]) => toWeekday(day, -1, 7),
  previousOrSame: ([day]: readonly unknown[]) => toWeekday(day, -1, 0),
};
