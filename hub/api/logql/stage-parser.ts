/** Parses the stages of a LogQL pipeline. */

import { numberOf, type TokenCursor } from "./lexer.ts";
import type { LabelFilter, Stage } from "./syntax.ts";

/** Stages of Loki that aren't supported here. */
const LEFT_OUT = new Set(["unpack", "distinct"]);

/** Parses the stage that begins at the next token. Throws request_invalid. */
export function readStage(reader: TokenCursor): Stage {
  const { text } = reader.take();
  if (text !== "|") return lineFilter(reader, text as "|=" | "!=" | "|~" | "!~");
  if (reader.token.kind !== "name") {
    if (reader.isSymbol("(")) return { kind: "filter", filter: anyOf(reader, 1) };
    throw reader.unexpected();
  }
  const name = reader.token.text;
  if (LEFT_OUT.has(name)) throw reader.fault(`the stage ${name} isn't offered`);
  switch (name) {
    case "json":
    case "logfmt":
      reader.take();
      return { kind: name, only: parameters(reader) };
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
      reader.take();
      return { kind: name };
    case "unwrap":
      reader.take();
      return unwrap(reader);
    default:
      return { kind: "filter", filter: anyOf(reader, 1) };
  }
}

function lineFilter(reader: TokenCursor, operator: "|=" | "!=" | "|~" | "!~"): Stage {
  const values = [reader.expectKind("text", "STRING")];
  while (reader.isName("or")) {
    reader.take();
    values.push(reader.expectKind("text", "STRING"));
  }
  return { kind: "line", operator, values };
}

/** `a="b.c", d` of json and logfmt. */
function parameters(reader: TokenCursor): (readonly [string, string])[] {
  const list: (readonly [string, string])[] = [];
  while (
    reader.token.kind === "name" &&
    (list.length === 0 || reader.next.text === "=" || reader.next.text === ",")
  ) {
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
  while (reader.isName("and") || reader.isSymbol(",")) {
    reader.takeOperator();
    left = { kind: "and", left, right: comparison(reader, depth) };
  }
  return left;
}

function comparison(reader: TokenCursor, depth: number): LabelFilter {
  if (reader.isSymbol("(")) {
    reader.checkDepth(depth);
    reader.take();
    const inner = anyOf(reader, depth + 1);
    reader.expect(")");
    return inner;
  }
  const label = reader.expectKind("name", "IDENTIFIER");
  const operator = reader.take().text;
  const { token } = reader;
  if (token.kind === "text" && ["=", "!=", "=~", "!~"].includes(operator))
    return { kind: "text", label, operator: operator as "=", value: reader.take().text };
  const number = numberOf(token);
  if (number === undefined || !["==", "=", "!=", ">", ">=", "<", "<="].includes(operator))
    throw reader.unexpected();
  reader.take();
  return { kind: "number", label, operator: operator === "=" ? "==" : (operator as ">"), ...number };
}
