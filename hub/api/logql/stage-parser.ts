/** Parses the stages of a LogQL pipeline. */

import { numberOf, type TokenCursor } from "./lexer.ts";
import type { LabelFilter, LabelPaths, Stage } from "./syntax.ts";

type LineStage = Extract<Stage, { kind: "line" }>;

/** Flags of logfmt. */
const FLAGS = ["strict", "keep-empty"];
const COMPARISONS: ReadonlySet<string> = new Set(["=", "==", "!=", "=~", "!~", ">", ">=", "<", "<="]);

/** Parses the stage that begins at the next token. Throws request_invalid. */
export function readStage(reader: TokenCursor): Stage {
  const { text } = reader.take();
  if (text !== "|") return lineFilter(reader, text as LineStage["operator"]);
  if (reader.token.kind !== "name") {
    if (reader.isSymbol("(")) return { kind: "filter", filter: anyOf(reader, 1) };
    throw reader.unexpected();
  }
  const name = reader.token.text;
  switch (name) {
    case "json":
      reader.take();
      return { kind: name, only: parameters(reader) };
    case "logfmt":
      reader.take();
      return logfmt(reader);
    case "regexp":
    case "pattern":
    case "line_format":
      reader.take();
      return { kind: name, text: reader.expectKind("text", "STRING") };
    case "label_format":
      reader.take();
      return { kind: name, renames: renames(reader) };
    case "drop":
    case "keep":
      reader.take();
      return { kind: name, labels: names(reader) };
    case "decolorize":
    case "unpack":
      reader.take();
      return { kind: name };
    case "unwrap":
      reader.take();
      return unwrap(reader);
    default:
      return { kind: "filter", filter: anyOf(reader, 1) };
  }
}

function lineFilter(reader: TokenCursor, operator: LineStage["operator"]): LineStage {
  const [values, addresses]: [string[], string[]] = [[], []];
  const add = (): void => {
    if (!isAddress(reader)) values.push(reader.expectKind("text", "STRING"));
    else if (operator === "|=" || operator === "!=") addresses.push(address(reader));
    else throw reader.fault("ip: invalid operation: use |= or !=");
  };
  add();
  while (reader.isName("or")) {
    reader.take();
    add();
  }
  return { kind: "line", operator, values, addresses };
}

function isAddress(reader: TokenCursor): boolean {
  return reader.isName("ip") && reader.next.text === "(";
}

/** The pattern of `ip("…")`. */
function address(reader: TokenCursor): string {
  reader.take();
  reader.expect("(");
  const pattern = reader.expectKind("text", "STRING");
  reader.expect(")");
  return pattern;
}

function logfmt(reader: TokenCursor): Stage {
  const flags = new Set<string>();
  while (reader.isSymbol("-") && reader.next.text === "-") {
    reader.take();
    reader.take();
    let flag = reader.expectKind("name", "IDENTIFIER");
    if (flag === "keep" && reader.accept("-")) flag += `-${reader.expectKind("name", "IDENTIFIER")}`;
    if (!FLAGS.includes(flag)) throw reader.fault(`unknown flag --${flag}: use --${FLAGS.join(" or --")}`);
    flags.add(flag);
  }
  const only = parameters(reader);
  return { kind: "logfmt", only, isStrict: flags.has("strict"), keepsEmpty: flags.has("keep-empty") };
}

/** `a="b.c", d` of json and logfmt. */
function parameters(reader: TokenCursor): LabelPaths {
  const list: (readonly [string, string])[] = [];
  while (reader.token.kind === "name") {
    const label = reader.take().text;
    list.push([label, reader.accept("=") ? reader.expectKind("text", "STRING") : label]);
    if (!reader.accept(",")) break;
  }
  return list;
}

function renames(reader: TokenCursor): Extract<Stage, { kind: "label_format" }>["renames"] {
  const list: { label: string; from: string; isText: boolean }[] = [];
  do {
    const label = reader.expectKind("name", "IDENTIFIER");
    reader.expect("=");
    const isText = reader.token.kind === "text";
    list.push({ label, from: isText ? reader.take().text : reader.expectKind("name", "IDENTIFIER"), isText });
  } while (reader.accept(","));
  return list;
}

function names(reader: TokenCursor): string[] {
  const list: string[] = [];
  do list.push(reader.expectKind("name", "IDENTIFIER"));
  while (reader.accept(","));
  return list;
}

function unwrap(reader: TokenCursor): Stage {
  const first = reader.expectKind("name", "IDENTIFIER");
  if (!reader.accept("(")) return { kind: "unwrap", label: first, conversion: undefined };
  const label = reader.expectKind("name", "IDENTIFIER");
  reader.expect(")");
  if (!["duration", "duration_seconds", "bytes"].includes(first))
    throw reader.fault(`the conversion ${first} isn't offered: use duration, duration_seconds or bytes`);
  return { kind: "unwrap", label, conversion: first };
}

function anyOf(reader: TokenCursor, depth: number): LabelFilter {
  let left = allOf(reader, depth);
  while (reader.isName("or")) {
    reader.takeOperator();
    left = { kind: "or", left, right: allOf(reader, depth) };
  }
  return left;
}

function allOf(reader: TokenCursor, depth: number): LabelFilter {
  let left = comparison(reader, depth);
  while (reader.isName("and")) {
    reader.takeOperator();
    left = { kind: "and", left, right: comparison(reader, depth) };
  }
  return left;
}

/** A filter with those that follow after a comma or without an operator: `a="b", c="d" or e="f"` needs the first one. */
function comparison(reader: TokenCursor, depth: number): LabelFilter {
  const left = single(reader, depth);
  const isFollowed =
    reader.isSymbol("(") || (reader.token.kind === "name" && COMPARISONS.has(reader.next.text));
  if (reader.isSymbol(",")) reader.takeOperator();
  else if (isFollowed) reader.countOperator();
  else return left;
  return { kind: "and", left, right: anyOf(reader, depth) };
}

function single(reader: TokenCursor, depth: number): LabelFilter {
  if (reader.isSymbol("(")) {
    reader.checkDepth(depth);
    reader.take();
    const inner = anyOf(reader, depth + 1);
    reader.expect(")");
    return inner;
  }
  const label = reader.expectKind("name", "IDENTIFIER");
  const operator = reader.take().text;
  if (isAddress(reader) && (operator === "=" || operator === "!="))
    return { kind: "address", label, isWanted: operator === "=", pattern: address(reader) };
  if (reader.token.kind === "text" && ["=", "!=", "=~", "!~"].includes(operator))
    return { kind: "text", label, operator: operator as "=", value: reader.take().text };
  const sign = reader.accept("-") ? -1 : 1;
  const number = numberOf(reader.token);
  if (number === undefined || !["==", "=", "!=", ">", ">=", "<", "<="].includes(operator))
    throw reader.unexpected();
  reader.take();
  const value = sign * number.value;
  return { kind: "number", label, operator: operator === "=" ? "==" : (operator as ">"), ...number, value };
}
