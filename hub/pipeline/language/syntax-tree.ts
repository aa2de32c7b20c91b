/** The tree of a pipeline's text. Every node knows where it stands. */

import type { SourceText } from "./source-text.ts";

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

/** What stands in a section: a plugin, or plugins under conditions. */
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
  | { readonly kind: "number"; readonly value: number; readonly range: Range }
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
