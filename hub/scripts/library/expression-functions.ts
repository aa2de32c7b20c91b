/**
 * Functions that Lucene expressions have and Painless lacks: of numbers, and of the values of a field. Their class has a name
 * that no script can write.
 */

import { toDouble } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { Decimal, isNumber, ScriptObject } from "#hub/scripts/values/values.ts";
import { DateTime } from "./dates.ts";

/** The class of the functions. */
export const EXPRESSION_CLASS = "<expression>";

/** Mean radius of the earth, km; as Lucene has it. */
const EARTH_RADIUS_KM = 6371.0087714;

/** Functions of numbers with the numbers that they take. */
const OF_NUMBERS: Readonly<Record<string, (...values: number[]) => number>> = {
  acosh: (a = 0) => Math.acosh(a),
  asinh: (a = 0) => Math.asinh(a),
  atanh: (a = 0) => Math.atanh(a),
  logn: (base = 0, a = 0) => Math.log(a) / Math.log(base),
  haversin: (lat1 = 0, lon1 = 0, lat2 = 0, lon2 = 0) => {
    const radians = Math.PI / 180;
    const [a, b] = [Math.sin(((lat2 - lat1) * radians) / 2), Math.sin(((lon2 - lon1) * radians) / 2)];
    const h = a * a + Math.cos(lat1 * radians) * Math.cos(lat2 * radians) * b * b;
    return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(h)));
  },
};

/** Numbers that are made of all values of a field, ascending; of none they are 0. */
const OF_VALUES: Readonly<Record<string, (values: readonly number[]) => number>> = {
  value: ([first = 0]) => first,
  min: ([first = 0]) => first,
  max: (values) => values.at(-1) ?? 0,
  sum,
  avg: (values) => (values.length === 0 ? 0 : sum(values) / values.length),
  median: (values) => {
    const middle = values.length >> 1;
    if (values.length % 2 === 1) return values[middle]!;
    return values.length === 0 ? 0 : (values[middle - 1]! + values[middle]!) / 2;
  },
};

/** Members of dates by their names in expressions; the month of `getMonth` counts from 0. */
const DATE_PARTS: Readonly<Record<string, (date: DateTime) => unknown>> = Object.fromEntries([
  ...(
    "centuryOfEra dayOfMonth dayOfWeek dayOfYear era hourOfDay millisOfDay millisOfSecond minuteOfDay minuteOfHour " +
    "monthOfYear secondOfDay secondOfMinute weekOfWeekyear weekyear year yearOfCentury yearOfEra"
  )
    .split(" ")
    .map((name) => [`date.${name}`, partOf(`get${name[0]!.toUpperCase()}${name.slice(1)}`)] as const),
  ["getYear()", partOf("getYear")],
  ["getMonth()", (date: DateTime) => toDouble(partOf("getMonthValue")(date)) - 1],
  ["getDayOfMonth()", partOf("getDayOfMonth")],
  ["getHourOfDay()", partOf("getHour")],
  ["getMinutes()", partOf("getMinute")],
  ["getSeconds()", partOf("getSecond")],
]);

type Static = (values: readonly unknown[]) => unknown;

/** The functions by name. */
export const EXPRESSION_FUNCTIONS: Readonly<Record<string, Static>> = {
  ...Object.fromEntries(
    Object.entries(OF_NUMBERS).map(([name, of]): [string, Static] => [
      name,
      (values) => new Decimal(of(...values.map(toDouble))),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(OF_VALUES).map(([name, of]): [string, Static] => [
      name,
      ([values]) => new Decimal(of(Array.from(values as Iterable<unknown>, numberOf).sort((a, b) => a - b))),
    ]),
  ),
  number: ([value]) => new Decimal(numberOf(value)),
  count: ([values]) => new Decimal([...(values as Iterable<unknown>)].length),
  datePart: ([values, name]) => {
    const [first] = values as Iterable<unknown>;
    if (first === undefined) return new Decimal(0);
    if (!(first instanceof DateTime)) throw notNumeric(first);
    return new Decimal(toDouble(DATE_PARTS[String(name)]!(first)));
  },
  coordinate: ([values, name]) => {
    const [first] = values as Iterable<unknown>;
    if (first === undefined) return new Decimal(0);
    const parts = first instanceof ScriptObject ? first.asJson?.() : undefined;
    const value = typeof parts === "object" ? parts[String(name)] : undefined;
    if (value === undefined) throw notNumeric(first);
    return new Decimal(value);
  },
};

/** How many numbers a function takes; undefined where there is none of that name. */
export function countOfNumbers(name: string): number | undefined {
  return Object.hasOwn(ARITIES, name) ? ARITIES[name] : undefined;
}

const ARITIES: Readonly<Record<string, number>> = { acosh: 1, asinh: 1, atanh: 1, logn: 2, haversin: 4 };

/** Returns whether a number can be made so of all values of a field. */
export function isOfValues(name: string): boolean {
  return Object.hasOwn(OF_VALUES, name);
}

/** Returns whether dates have a member (`date.year`, `getYear()`). */
export function isDatePart(name: string): boolean {
  return Object.hasOwn(DATE_PARTS, name);
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}

function partOf(method: string): (date: DateTime) => unknown {
  return (date) => date.methods.get(method)!(date, [], { spend: () => undefined });
}

/** Dates are their time in ms, booleans 0 and 1. */
function numberOf(value: unknown): number {
  if (value instanceof DateTime) return value.timeMs;
  if (typeof value === "boolean") return Number(value);
  if (isNumber(value)) return toDouble(value);
  throw notNumeric(value);
}

function notNumeric(value: unknown): ScriptException {
  const kind = value instanceof ScriptObject ? value.type : typeof value;
  return new ScriptException(
    "IllegalArgumentException",
    `an expression needs numbers, dates or places, but found a ${kind}`,
  );
}
