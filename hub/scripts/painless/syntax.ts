/** The syntax tree of a script. Every node has the offset of its text in the source, UTF-16 units. */

import type { BinaryOperator } from "#hub/scripts/values/operators.ts";

/** A type as written: "int", "def", "List", "String[]". */
export interface TypeName {
  readonly name: string;
  /** Pairs of brackets after the name. */
  readonly dimensions: number;
  readonly offset: number;
}

export type Expression = { readonly offset: number } /** `isLong`: of a whole number written with an L. */ & (
  | { readonly kind: "constant"; readonly value: unknown; readonly isLong?: boolean }
  | { readonly kind: "regex"; readonly pattern: string; readonly flags: string }
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "unary"; readonly operator: "-" | "+" | "!" | "~"; readonly operand: Expression }
  | {
      readonly kind: "binary";
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: "logical";
      readonly operator: "&&" | "||";
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: "elvis"; readonly left: Expression; readonly right: Expression }
  | {
      readonly kind: "condition";
      readonly test: Expression;
      readonly yes: Expression;
      readonly no: Expression;
    }
  | { readonly kind: "cast"; readonly type: TypeName; readonly operand: Expression }
  | { readonly kind: "instanceof"; readonly operand: Expression; readonly type: TypeName }
  /** `operator`: undefined for "=", else the operation before it ("+=" → "+"). */
  | {
      readonly kind: "assignment";
      readonly target: Target;
      readonly operator: BinaryOperator | undefined;
      readonly value: Expression;
    }
  | { readonly kind: "step"; readonly target: Target; readonly by: 1 | -1; readonly isPrefix: boolean }
  | Member
  | Brace
  | {
      readonly kind: "method";
      readonly object: Expression;
      readonly name: string;
      readonly arguments: readonly Expression[];
      readonly isSafe: boolean;
    }
  | { readonly kind: "static-field"; readonly type: string; readonly name: string }
  | {
      readonly kind: "static-method";
      readonly type: string;
      readonly name: string;
      readonly arguments: readonly Expression[];
    }
  | { readonly kind: "call"; readonly name: string; readonly arguments: readonly Expression[] }
  | { readonly kind: "new"; readonly type: string; readonly arguments: readonly Expression[] }
  | {
      readonly kind: "new-array";
      readonly type: TypeName;
      readonly sizes: readonly Expression[];
      readonly values: readonly Expression[] | undefined;
    }
  | { readonly kind: "list"; readonly values: readonly Expression[] }
  | { readonly kind: "map"; readonly entries: readonly (readonly [Expression, Expression])[] }
  | { readonly kind: "lambda"; readonly parameters: readonly Parameter[]; readonly body: Block | Expression }
  /** "Type::method", "value::method", "this::function", "Type::new". */
  | { readonly kind: "reference"; readonly owner: string; readonly method: string }
);

interface Member {
  readonly kind: "member";
  readonly object: Expression;
  readonly name: string;
  readonly isSafe: boolean;
}

interface Brace {
  readonly kind: "brace";
  readonly object: Expression;
  readonly index: Expression;
  /** `a?.0`: null where there is no object. */
  readonly isSafe: boolean;
}

/** What can be assigned to. */
export type Target = Extract<Expression, { readonly kind: "variable" | "member" | "brace" }>;

export interface Parameter {
  readonly type: TypeName | undefined;
  readonly name: string;
}

export type Statement = { readonly offset: number } & (
  | { readonly kind: "expression"; readonly expression: Expression }
  | {
      readonly kind: "declaration";
      readonly type: TypeName;
      readonly name: string;
      readonly value: Expression | undefined;
    }
  | { readonly kind: "if"; readonly test: Expression; readonly yes: Block; readonly no: Block | undefined }
  | { readonly kind: "while"; readonly test: Expression; readonly body: Block }
  | { readonly kind: "do"; readonly body: Block; readonly test: Expression }
  | {
      readonly kind: "for";
      readonly first: readonly Statement[];
      readonly test: Expression | undefined;
      readonly after: Expression | undefined;
      readonly body: Block;
    }
  | {
      readonly kind: "each";
      readonly type: TypeName;
      readonly name: string;
      readonly values: Expression;
      readonly body: Block;
    }
  | { readonly kind: "return"; readonly value: Expression | undefined }
  | { readonly kind: "throw"; readonly value: Expression }
  | { readonly kind: "try"; readonly body: Block; readonly catches: readonly Catch[] }
  | { readonly kind: "continue" }
  | { readonly kind: "break" }
);

export interface Block {
  readonly kind: "block";
  readonly offset: number;
  readonly statements: readonly Statement[];
}

export interface Catch {
  readonly type: TypeName;
  readonly name: string;
  readonly body: Block;
}

export interface FunctionDeclaration {
  readonly returns: TypeName;
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly body: Block;
  readonly offset: number;
}

export interface Script {
  readonly functions: readonly FunctionDeclaration[];
  readonly statements: readonly Statement[];
}
