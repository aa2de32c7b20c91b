/** The syntax tree of a query string, common to both dialects. */

/** A part of a query string. `field` undefined: the default fields. */
export type StringNode = { readonly boost?: number; readonly field?: string } & (
  | {
      readonly kind: "text";
      readonly text: string /** Edits, "AUTO" for a bare ~. */;
      readonly fuzziness?: string;
      /** The adjacent words of the text; absent: it is a single word. */
      readonly words?: readonly string[];
    }
  | { readonly kind: "phrase"; readonly text: string; readonly slop: number }
  | {
      readonly kind: "wildcard" /** With * and ?; a backslash makes the next character plain. */;
      readonly pattern: string;
    }
  | { readonly kind: "regexp"; readonly source: string }
  | { readonly kind: "range"; readonly from?: StringBound; readonly to?: StringBound }
  | { readonly kind: "exists" }
  | { readonly kind: "all" }
  | { readonly kind: "group"; readonly clauses: readonly StringClause[] }
);

export interface StringBound {
  readonly value: string;
  readonly inclusive: boolean;
}

export interface StringClause {
  readonly occur: "must" | "should" | "mustNot";
  readonly node: StringNode;
}

/** Groups within groups. */
export const MAX_STRING_DEPTH = 50;

/** Takes the backslashes away that make characters plain. */
export function plainText(text: string): string {
  return text.replace(
    /\\u([0-9a-fA-F]{4})|\\(.)/gs,
    (_, code: string | undefined, character: string | undefined) =>
      code === undefined ? (character ?? "") : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Returns the number of parts that aren't groups, each word counted. */
export function leafCount(node: StringNode): number {
  if (node.kind === "text") return node.words?.length ?? 1;
  if (node.kind !== "group") return 1;
  return node.clauses.reduce((total, clause) => total + leafCount(clause.node), 0);
}
