/** The syntax tree of a pipeline's text. Every node has its position. */

/** A part of a text: [start, end) in UTF-16 units. */
export interface Range {
  readonly source: SourceText;
  readonly start: number;
  readonly end: number;
}

export type SectionName = "input" | "filter" | "output";

export interface SectionNode {
  readonly name: SectionName;
  readonly steps: readonly StepNode[];
  readonly range: Range;
}

/** What is in a section: a plugin, or plugins under conditions. */
export type StepNode = PluginNode | BranchNode;

export interface PluginNode {
  readonly kind: "plugin";
  readonly name: string;
  readonly nameRange: Range;
  readonly attributes: readonly AttributeNode[];
  readonly range: Range;
}

export interface AttributeNode {
  readonly name: string;
  readonly nameRange: Range;
  readonly value: ValueNode;
}

/** if, else if …, else; the last case has no condition where it is `else`. */
export interface BranchNode {
  readonly kind: "branch";
  readonly cases: readonly BranchCase[];
  readonly range: Range;
}

export interface BranchCase {
  readonly condition: ConditionNode | undefined;
  readonly steps: readonly StepNode[];
}

export type ValueNode =
  | { readonly kind: "string"; readonly value: string; readonly range: Range }
  | { readonly kind: "bareword"; readonly value: string; readonly range: Range }
  | {
      readonly kind: "number";
      readonly value: number;
      /** Written with a point. */
      readonly isDecimal: boolean;
      readonly range: Range;
    }
  | { readonly kind: "array"; readonly items: readonly ValueNode[]; readonly range: Range }
  | { readonly kind: "hash"; readonly entries: readonly HashEntry[]; readonly range: Range }
  | PluginNode;

export interface HashEntry {
  readonly key: string;
  readonly keyRange: Range;
  readonly value: ValueNode;
}

export type LogicOperator = "and" | "or" | "xor" | "nand";
export type CompareOperator = "==" | "!=" | "<=" | ">=" | "<" | ">";

export type ConditionNode =
  | {
      readonly kind: "logic";
      readonly operator: LogicOperator;
      readonly left: ConditionNode;
      readonly right: ConditionNode;
    }
  | { readonly kind: "not"; readonly operand: ConditionNode }
  | {
      readonly kind: "compare";
      readonly operator: CompareOperator;
      readonly left: OperandNode;
      readonly right: OperandNode;
    }
  | {
      readonly kind: "match";
      readonly left: OperandNode;
      readonly pattern: OperandNode;
      readonly negated: boolean;
    }
  | {
      readonly kind: "in";
      readonly needle: OperandNode;
      readonly hay: OperandNode;
      readonly negated: boolean;
    }
  | { readonly kind: "truth"; readonly operand: OperandNode };

/** A value in a condition. */
export type OperandNode =
  | { readonly kind: "string"; readonly value: string; readonly range: Range }
  | { readonly kind: "number"; readonly value: number; readonly range: Range }
  | { readonly kind: "regexp"; readonly value: string; readonly range: Range }
  /** `[a][b]`, as written. */
  | { readonly kind: "selector"; readonly value: string; readonly range: Range }
  | { readonly kind: "array"; readonly items: readonly OperandNode[]; readonly range: Range };

/** The text of one file. A byte order mark at the start is not part of it. */
export class SourceText {
  readonly file: string;
  readonly text: string;
  /** True: a backslash in quotes begins an escape sequence. */
  readonly hasEscapes: boolean;
  readonly #lineStarts: number[] = [0];

  /** `file`: the name that messages show. */
  constructor(file: string, text: string, hasEscapes = false) {
    this.file = file;
    this.hasEscapes = hasEscapes;
    this.text = text.startsWith("\ufeff") ? text.slice(1) : text;
    for (let at = this.text.indexOf("\n"); at >= 0; at = this.text.indexOf("\n", at + 1)) {
      this.#lineStarts.push(at + 1);
    }
  }

  /** Returns line and column of an offset, both from 1; the column counts UTF-16 units. */
  place(offset: number): { line: number; column: number } {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#lineStarts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - this.#lineStarts[low]! + 1 };
  }

  /** Returns a line's text without its end; `line` from 1. */
  line(line: number): string {
    const start = this.#lineStarts[line - 1] ?? this.text.length;
    return this.text.slice(start, this.#lineStarts[line] ?? this.text.length).replace(/\r?\n$/, "");
  }
}
