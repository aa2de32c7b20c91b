/**
 * Numbers with a text of their own. Clients that read typed JSON tell 5.0 from 5: fractions are printed as Java prints
 * doubles and floats, with a point in any case: 1.0, 0.4991763, 1.5E10.
 */

/** Digits that a number of single precision needs at most, and those that most of them need. */
const MOST_DIGITS = 9;
const USUAL_DIGITS = 7;
/** Range in which there is no exponent: at least the first, less than the second. */
const [SMALLEST, LARGEST] = [1e-3, 1e7];

/** A number that is written with this text, which may say more than its value: 5.0. */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Those who calculate with it get the number. */
  valueOf(): number {
    return Number(this.text);
  }

  toJSON(): number {
    return Number(this.text);
  }
}

/** Returns a number of a kind that has fractions as answers hold it: with a point also where it is whole. */
export function fraction(value: number): NumberText | number;
export function fraction(value: number | null): NumberText | number | null;
export function fraction(value: number | null): NumberText | number | null {
  return Number.isInteger(value) ? new NumberText(doubleText(value!)) : value;
}

/** Like `fraction`, of single precision: 0.1 for the float nearest to it. */
export function singleFraction(value: number): NumberText | number {
  return Number.isFinite(value) ? new NumberText(floatText(value)) : value;
}

/** Returns the text of a number: 50.0, 1.0E10, NaN. */
export function doubleText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Object.is(value, -0)) return "-0.0";
  const size = Math.abs(value);
  if (size === 0 || (size >= SMALLEST && size < LARGEST)) return withPoint(String(value));
  const [mantissa = "", exponent = ""] = value.toExponential().split("e");
  return `${withPoint(mantissa)}E${Number(exponent)}`;
}

/** Returns the shortest text that means a finite number of single precision. */
export function floatText(value: number): string {
  return doubleText(shortestFloat(value));
}

/** Returns the number of the fewest digits that means a finite number of single precision: 0.1 for the float nearest to it. */
export function shortestFloat(value: number): number {
  const single = Math.fround(value);
  for (let digits = USUAL_DIGITS; digits < MOST_DIGITS; digits++) {
    const shortest = Number(single.toPrecision(digits));
    if (Math.fround(shortest) === single) return shortest;
  }
  return Number(single.toPrecision(MOST_DIGITS));
}

function withPoint(text: string): string {
  return text.includes(".") ? text : `${text}.0`;
}
