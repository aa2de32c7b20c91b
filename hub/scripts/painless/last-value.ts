/** The value of scripts, functions and lambdas without `return`. */

import type { Block, Statement } from "./syntax.ts";

/** Returns statements that return their last expression, also at the end of a last `if` or `try`. */
export function withLastValue(statements: readonly Statement[]): readonly Statement[] {
  const last = statements.at(-1);
  if (last === undefined) return statements;
  const block = (of: Block): Block => ({ ...of, statements: withLastValue(of.statements) });
  const before = statements.slice(0, -1);
  switch (last.kind) {
    case "expression":
      return [...before, { kind: "return", value: last.expression, offset: last.offset }];
    case "if":
      return [
        ...before,
        { ...last, yes: block(last.yes), no: last.no === undefined ? undefined : block(last.no) },
      ];
    case "try":
      return [
        ...before,
        {
          ...last,
          body: block(last.body),
          catches: last.catches.map((each) => ({ ...each, body: block(each.body) })),
        },
      ];
    default:
      return statements;
  }
}
