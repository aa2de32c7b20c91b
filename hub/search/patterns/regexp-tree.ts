/** The syntax tree of a regular expression. */

/** A node of the tree; code points as numbers. */
export type Node =
  | { readonly kind: "empty" }
  | {
      readonly kind: "set";
      readonly ranges: readonly (readonly [from: number, to: number])[];
      readonly negated: boolean;
    }
  | { readonly kind: "sequence"; readonly parts: readonly Node[] }
  | { readonly kind: "choice"; readonly parts: readonly Node[] }
  /** Everything but what `part` matches. */
  | { readonly kind: "complement"; readonly part: Node }
  /** What all parts match. */
  | { readonly kind: "intersection"; readonly parts: readonly Node[] }
  | { readonly kind: "repeat"; readonly part: Node; readonly min: number; readonly max: number };
