/** Prints scores in the form of clients that read them as numbers of single precision: 1.0, 0.4991763, 1.5E10. */

/** Digits that a number of single precision needs at most, and those that most of them need. */
const MOST_DIGITS = 9;
const USUAL_DIGITS = 7;
/** Range in which there is no exponent: at least the first, less than the second. */
const [SMALLEST, LARGEST] = [1e-3, 1e7];

/** Returns the shortest text of a finite number of single precision, with a point in any case. */
export function floatText(value: number): string {
  const single = Math.fround(value);
  let shortest = single;
  for (let digits = USUAL_DIGITS; digits <= MOST_DIGITS; digits++) {
    shortest = Number(single.toPrecision(digits));
    if (Math.fround(shortest) === single) break;
  }
  const size = Math.abs(shortest);
  if (size === 0 || (size >= SMALLEST && size < LARGEST)) return withPoint(String(shortest));
  const [mantissa = "", exponent = ""] = shortest.toExponential().split("e");
  return `${withPoint(mantissa)}E${Number(exponent)}`;
}

function withPoint(text: string): string {
  return text.includes(".") ? text : `${text}.0`;
}
