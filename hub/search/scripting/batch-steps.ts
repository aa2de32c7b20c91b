/**
 * Steps of a script that runs over batches of documents: each reads and writes registers, arrays with one number per
 * document. Booleans are 0 and 1. If a step can't compute a value exactly, it marks the document as unsure; the script
 * itself then runs on that document.
 */

import { COLUMN_BLOCK, type KeywordColumn, type NumericColumn } from "#hub/engine/searcher/searcher.ts";

/** Documents of one run, ascending, and what is known of them. */
export interface Batch {
  docs: Int32Array;
  scores: Float64Array | null;
  /** At most COLUMN_BLOCK. */
  length: number;
  /** 1 for documents whose result doesn't count. */
  readonly unsure: Uint8Array;
}

/** A number for each document of a batch. */
export type Register = Float64Array;

/** Computes one register for all documents of a batch. */
export type Step = (batch: Batch) => void;

type Arithmetic = "+" | "-" | "*" | "/" | "%";
type Comparison = "==" | "!=" | "<" | "<=" | ">" | ">=";

export function isArithmetic(operator: string): operator is Arithmetic {
  return operator.length === 1 && "+-*/%".includes(operator);
}

export function isComparison(operator: string): operator is Comparison {
  return operator === "<" || operator === ">" || /^[=!<>]=$/.test(operator);
}

/** Reads the smallest value of a numeric column; `missing` of documents without one. */
export function columnStep(column: NumericColumn, missing: number, out: Register): Step {
  const block = new Float64Array(COLUMN_BLOCK);
  let loaded = -1;
  return ({ docs, length }) => {
    for (let at = 0; at < length; at++) {
      const doc = docs[at]!;
      const wanted = doc >>> BLOCK_SHIFT;
      if (wanted !== loaded) {
        column.decodeBlock(wanted, block);
        loaded = wanted;
      }
      const value = block[doc & BLOCK_MASK]!;
      out[at] = Number.isNaN(value) ? missing : value;
    }
  };
}

const BLOCK_SHIFT = Math.log2(COLUMN_BLOCK);
const BLOCK_MASK = COLUMN_BLOCK - 1;

/** Writes 1 if the smallest ordinal of a keyword column satisfies `test`; -1 means no value. */
export function ordinalStep(column: KeywordColumn, test: (ordinal: number) => boolean, out: Register): Step {
  const block = new Int32Array(COLUMN_BLOCK);
  let loaded = -1;
  return ({ docs, length }) => {
    for (let at = 0; at < length; at++) {
      const doc = docs[at]!;
      const wanted = doc >>> BLOCK_SHIFT;
      if (wanted !== loaded) {
        column.decodeBlock(wanted, block);
        loaded = wanted;
      }
      out[at] = test(block[doc & BLOCK_MASK]!) ? 1 : 0;
    }
  };
}

/** Reads the documents' scores. */
export function scoreStep(out: Register): Step {
  return ({ scores, length }) => {
    for (let at = 0; at < length; at++) out[at] = scores === null ? 0 : scores[at]!;
  };
}

/** Arithmetic as on doubles; checks of whole numbers are steps of their own. */
export function arithmeticStep(operator: Arithmetic, a: Register, b: Register, out: Register): Step {
  switch (operator) {
    case "+":
      return ({ length }) => {
        for (let at = 0; at < length; at++) out[at] = a[at]! + b[at]!;
      };
    case "-":
      return ({ length }) => {
        for (let at = 0; at < length; at++) out[at] = a[at]! - b[at]!;
      };
    case "*":
      return ({ length }) => {
        for (let at = 0; at < length; at++) out[at] = a[at]! * b[at]!;
      };
    case "/":
      return ({ length }) => {
        for (let at = 0; at < length; at++) out[at] = a[at]! / b[at]!;
      };
    case "%":
      return ({ length }) => {
        for (let at = 0; at < length; at++) out[at] = a[at]! % b[at]!;
      };
  }
}

/** Whole numbers: truncates fractions, turns -0 into 0, and marks numbers that a double can't hold exactly. */
export function wholeStep(out: Register): Step {
  return ({ length, unsure }) => {
    for (let at = 0; at < length; at++) {
      const value = Math.trunc(out[at]!) + 0;
      if (value >= -Number.MAX_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER) out[at] = value;
      else unsure[at] = 1;
    }
  };
}

/** Marks numbers that would differ as whole numbers: beyond the digits of a double, or -0. */
export function exactStep(values: Register): Step {
  return ({ length, unsure }) => {
    for (let at = 0; at < length; at++) {
      const value = values[at]!;
      if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER) || Object.is(value, -0)) unsure[at] = 1;
    }
  };
}

export function comparisonStep(operator: Comparison, a: Register, b: Register, out: Register): Step {
  switch (operator) {
    case "==":
      return ({ length }) => {
        for (let at = 0; at < length; at++) out[at] = a[at]! === b[at]! ? 1 : 0;
      };
    case "!=":
      return ({ length }) => {
        for (let at = 0; at < length; at++) out[at] = a[at]! === b[at]! ? 0 : 1;
      };
    case "<":
      return ({ length }) => {
        for (let at = 0; at < length; at++) out[at] = a[at]! < b[at]! ? 1 : 0;
      };
    case "<=":
      return ({ length }) => {
        for (let at = 0; at < length; at++) out[at] = a[at]! <= b[at]! ? 1 : 0;
      };
    case ">":
      return ({ length }) => {
        for (let at = 0; at < length; at++) out[at] = a[at]! > b[at]! ? 1 : 0;
      };
    case ">=":
      return ({ length }) => {
        for (let at = 0; at < length; at++) out[at] = a[at]! >= b[at]! ? 1 : 0;
      };
  }
}

export function andStep(a: Register, b: Register, out: Register): Step {
  return ({ length }) => {
    for (let at = 0; at < length; at++) out[at] = a[at]! * b[at]!;
  };
}

export function orStep(a: Register, b: Register, out: Register): Step {
  return ({ length }) => {
    for (let at = 0; at < length; at++) out[at] = a[at]! + b[at]! > 0 ? 1 : 0;
  };
}

/** `test ? yes : no`; both were computed. */
export function choiceStep(test: Register, yes: Register, no: Register, out: Register): Step {
  return ({ length }) => {
    for (let at = 0; at < length; at++) out[at] = test[at]! === 1 ? yes[at]! : no[at]!;
  };
}

/** A function of one number, e.g. Math.log. */
export function mapStep(map: (value: number) => number, a: Register, out: Register): Step {
  return ({ length }) => {
    for (let at = 0; at < length; at++) out[at] = map(a[at]!);
  };
}

/** A function of two numbers, e.g. Math.pow. */
export function pairStep(
  map: (a: number, b: number) => number,
  a: Register,
  b: Register,
  out: Register,
): Step {
  return ({ length }) => {
    for (let at = 0; at < length; at++) out[at] = map(a[at]!, b[at]!);
  };
}
