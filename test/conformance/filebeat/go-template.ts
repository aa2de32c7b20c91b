/** The part of Go's text templates that configurations of Filebeat's modules use: variables, if, range and a few functions. */

type Values = Readonly<Record<string, unknown>>;

interface Token {
  readonly kind: "text" | "action";
  readonly text: string;
}

const BRACES = ["{{", "}}"] as const;

/** Returns a template's text with `values`. Throws an Error for what isn't known here. */
export function renderTemplate(
  source: string,
  values: Values,
  [open, close]: readonly [string, string] = BRACES,
): string {
  const tokens: Token[] = [];
  const action = new RegExp(`${RegExp.escape(open)}-?\\s*([\\s\\S]*?)\\s*-?${RegExp.escape(close)}`);
  for (const [at, part] of source.split(action).entries())
    tokens.push({ kind: at % 2 === 0 ? "text" : "action", text: part });
  return new Renderer(tokens).block(0, tokens.length, values);
}

class Renderer {
  readonly #tokens: readonly Token[];

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  block(from: number, to: number, values: Values): string {
    let text = "";
    for (let at = from; at < to; at++) {
      const token = this.#tokens[at]!;
      if (token.kind === "text") text += token.text;
      else if (/^(?:if|range)\b/.test(token.text)) {
        const end = this.#endOf(at);
        text += token.text.startsWith("if") ? this.#choice(at, values) : this.#loop(at, end, values);
        at = end;
      } else text += print(evaluate(token.text, values));
    }
    return text;
  }

  /** Index of the `end` of the action at `at`. */
  #endOf(at: number): number {
    return this.#marks(at).at(-1)!;
  }

  /** Indices of the else and end that belong to the action at `at`. */
  #marks(at: number): number[] {
    const marks: number[] = [];
    let depth = 0;
    for (let index = at + 1; index < this.#tokens.length; index++) {
      const { kind, text } = this.#tokens[index]!;
      if (kind === "text") continue;
      if (/^(?:if|range)\b/.test(text)) depth++;
      else if (depth === 0 && text.startsWith("else")) marks.push(index);
      else if (text === "end" && depth-- === 0) return [...marks, index];
    }
    throw new Error("a template's block has no end");
  }

  #choice(at: number, values: Values): string {
    const marks = this.#marks(at);
    let start = at;
    for (const mark of marks) {
      const condition = this.#tokens[start]!.text.replace(/^(?:else\s*)?(?:if\s*)?/, "");
      if (condition === "" || truth(evaluate(condition, values))) return this.block(start + 1, mark, values);
      start = mark;
    }
    return "";
  }

  #loop(at: number, end: number, values: Values): string {
    const [, index, item, list] =
      /^range\s+\$(\w+),\s*\$(\w+)\s*:=\s*(.*)$/.exec(this.#tokens[at]!.text) ?? [];
    if (index === undefined || item === undefined || list === undefined)
      throw new Error(`this range isn't known here: ${this.#tokens[at]!.text}`);
    const found = evaluate(list, values);
    const items: readonly unknown[] = Array.isArray(found) ? found : [];
    return items
      .map((each, number) =>
        this.block(at + 1, end, { ...values, [`$${index}`]: number, [`$${item}`]: each }),
      )
      .join("");
  }
}

/** Evaluates "a b (c d) | e". */
function evaluate(source: string, values: Values): unknown {
  const parts = source.split("|").map((part) => part.trim());
  let result = call(parts[0]!, values, []);
  for (const part of parts.slice(1)) result = call(part, values, [result]);
  return result;
}

function call(source: string, values: Values, last: readonly unknown[]): unknown {
  const [name = "", ...given] = source.match(/\([^()]*\)|"[^"]*"|\S+/g) ?? [];
  const operands = [...given.map((each) => operand(each, values)), ...last];
  switch (name) {
    case "eq":
      return operands.slice(1).some((each) => print(each) === print(operands[0]));
    case "ne":
      return print(operands[0]) !== print(operands[1]);
    case "not":
      return !truth(operands[0]);
    case "and":
      return operands.every(truth);
    case "or":
      return operands.find(truth) ?? operands.at(-1);
    case "tojson":
      return JSON.stringify(operands[0] ?? null);
    case "inList":
      return Array.isArray(operands[0]) && operands[0].includes(operands[1]);
    default:
      if (operands.length > 0) throw new Error(`the function isn't known here: ${name}`);
      return operand(name, values);
  }
}

function operand(text: string, values: Values): unknown {
  if (text.startsWith("(")) return evaluate(text.slice(1, -1), values);
  if (text.startsWith('"')) return text.slice(1, -1);
  if (/^-?\d+$/.test(text)) return Number(text);
  if (text === "true" || text === "false") return text === "true";
  if (text.startsWith("$")) return values[text];
  return text
    .split(".")
    .filter((key) => key !== "")
    .reduce<unknown>((at, key) => (at as Values | undefined)?.[key], values);
}

function truth(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

function print(value: unknown): string {
  return value === undefined || value === null ? "" : String(value as string);
}
