/** Values of the templates of `line_format` and `label_format`, and how Go converts them. */

import { AppError } from "#proto/kit/errors.ts";

/** Whole numbers are bigints, fractions are numbers. */
export type Value = string | bigint | number | boolean;

/** What makes a template fail for one line, which keeps its text then. */
export class TemplateFault extends Error {}

/**
 * Maximum characters of a line or label that a template makes: each template may repeat the result of the one before
 * several times.
 */
const MAX_TEXT = 1_048_576;

/** Throws request_invalid if a text would be too long. */
export function checkLength(length: number): void {
  if (length > MAX_TEXT)
    throw new AppError("request_invalid", `a template makes a text of more than ${MAX_TEXT} characters`);
}

/** Joins texts. Throws request_invalid before the result gets too long. */
export function concatenated(parts: readonly string[]): string {
  let all = "";
  for (const part of parts) {
    all += part;
    checkLength(all.length);
  }
  return all;
}

/** Returns a value as Go prints it: a million is 1e+06 where it is a fraction. */
export function shown(value: Value): string {
  if (typeof value !== "number") return String(value);
  const size = Math.abs(value);
  if (size === 0 || !Number.isFinite(value) || (size >= 1e-4 && size < 1e6)) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

export function whole(value: Value | undefined): bigint {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return BigInt(Math.trunc(Number.isFinite(value) ? value : 0));
  if (typeof value === "boolean") return value ? 1n : 0n;
  return /^[+-]?\d{1,18}$/.test(value ?? "") ? BigInt(value!.replace("+", "")) : 0n;
}

export function fraction(value: Value | undefined): number {
  const number = typeof value === "string" ? Number(value.trim() === "" ? 0 : value) : Number(value ?? 0);
  return Number.isNaN(number) ? 0 : number;
}

export function text(value: Value | undefined): string {
  return value === undefined ? "" : shown(value);
}

export function isTrue(value: Value | undefined): boolean {
  return value !== undefined && value !== "" && value !== false && value !== 0 && value !== 0n;
}

/** Compares values of one kind. */
export function order(a: Value | undefined, b: Value | undefined): number {
  if (a === undefined || b === undefined) throw new TemplateFault("missing argument for comparison");
  if (typeof a !== typeof b) throw new TemplateFault("incompatible types for comparison");
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** `%s %v %d %q %f %5.2f %%` of printf. */
export function printed([format, ...values]: readonly Value[]): string {
  let [index, length] = [0, 0];
  return text(format).replace(
    /%(-?)(\d{1,3})?(?:\.(\d{1,2}))?([a-zA-Z%])/g,
    (all, left, width, digits, verb) => {
      if (verb === "%") return "%";
      const value = values[index++];
      const plain =
        verb === "f"
          ? fraction(value).toFixed(Number(digits ?? 6))
          : verb === "q"
            ? JSON.stringify(text(value))
            : "svd".includes(verb)
              ? verb === "s" && digits !== undefined
                ? Array.from(text(value)).slice(0, Number(digits)).join("")
                : text(value)
              : all;
      checkLength((length += plain.length));
      return left === "-" ? plain.padEnd(Number(width ?? 0)) : plain.padStart(Number(width ?? 0));
    },
  );
}
