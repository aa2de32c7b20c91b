/** Indexes single values: writes the scanner's current value to the buffer of a field, by the field's type. */

import { toBytes } from "#hub/engine/bytes/bytes.ts";
import { parseIp } from "#hub/engine/bytes/ip.ts";
import { MAX_TERM_BYTES } from "#hub/engine/dictionary/dictionary-writer.ts";
import * as json from "#hub/engine/json/scanner.ts";
import { type Field, isFeature } from "#hub/engine/mapping/field.ts";
import { completionTerm } from "./completions.ts";
import { notAnObject } from "./flattened.ts";
import type { Leaf } from "./plan.ts";
import {
  notBoolean,
  parseBoolean,
  parseDate,
  parseDateNanos,
  parseDouble,
  parseWhole,
  ValueError,
} from "./values.ts";

/** Writes strings, numbers and literals; arrays and objects are the document writer's. */
export class ValueWriter {
  readonly #scanner: json.JsonScanner;
  /** Memory for texts with escapes; longer ones take the slow path. */
  readonly #unescaped = new Uint8Array(64 * 1024);
  #doc = 0;

  constructor(scanner: json.JsonScanner) {
    this.#scanner = scanner;
  }

  /** Indexes the value by the type of `leaf`, which must have a buffer. Throws ValueError. */
  write(leaf: Leaf, kind: number, doc: number): void {
    this.#doc = doc;
    const { type } = leaf.field;
    if (type === "text") this.#text(leaf, kind);
    else if (type === "keyword") this.#keyword(leaf, kind);
    else if (type === "ip") this.#ip(leaf, kind);
    else if (type === "completion") this.#completion(leaf, kind);
    else if (type === "flattened") throw notAnObject(kind);
    else if (type === "token_count") leaf.buffer!.addNumber(doc, this.#tokenCount(leaf, kind));
    else if (type !== "binary") this.#number(leaf, kind);
  }

  #tokenCount({ field, analyzer }: Leaf, kind: number): number {
    const tokens = analyzer!.tokens(this.#scalarText(kind));
    if (field.countsGaps) return (tokens.at(-1)?.position ?? -1) + 1;
    return tokens.length;
  }

  #number({ field, buffer }: Leaf, kind: number): void {
    const number = this.#numberOf(field, kind);
    if (number < 0 && isFeature(field))
      throw new ValueError(`[rank_feature] fields take no negative values, but got [${number}]`);
    if (typeof number === "bigint") buffer!.addExact(this.#doc, number);
    else buffer!.addNumber(this.#doc, number);
  }

  #numberOf(field: Field, kind: number): number | bigint {
    switch (field.type) {
      case "date":
        return parseDate(field, this.#scalarText(kind));
      case "date_nanos":
        return parseDateNanos(field, this.#scalarText(kind));
      case "boolean":
        if (kind === json.NUMBER) throw notBoolean(this.#scalarText(kind));
        return parseBoolean(this.#scalarText(kind));
      case "double":
      case "float":
      case "half_float":
      case "scaled_float":
        return parseDouble(field, this.#numberText(kind), kind === json.STRING);
      default: {
        const short =
          kind === json.NUMBER && field.type === "long" ? this.#scanner.wholeNumber() : Number.NaN;
        return Number.isNaN(short) ? parseWhole(field, this.#numberText(kind), kind === json.STRING) : short;
      }
    }
  }

  #ip(leaf: Leaf, kind: number): void {
    const text = this.#scalarText(kind);
    const address = parseIp(text);
    if (address === null) throw new ValueError(`'${text}' is not an IP string literal.`);
    leaf.buffer!.addKeyword(this.#doc, address, 0, address.length);
  }

  #text(leaf: Leaf, kind: number): void {
    const scanner = this.#scanner;
    const analyzer = leaf.analyzer!;
    const isLiteral = kind !== json.STRING && kind !== json.NUMBER;
    if (!analyzer.isStandard || isLiteral || !scanner.ascii) {
      leaf.buffer!.addTokens(this.#doc, analyzer.tokens(this.#scalarText(kind)));
    } else if (scanner.escaped) {
      const length = scanner.unescapeAscii(this.#unescaped);
      if (length < 0) this.#unescapedText(leaf, scanner.text());
      else leaf.buffer!.addAsciiText(this.#doc, this.#unescaped, 0, length);
    } else {
      leaf.buffer!.addAsciiText(this.#doc, scanner.bytes, scanner.start, scanner.stop);
    }
  }

  /** Slow path: escapes may stand for characters beyond ASCII. */
  #unescapedText(leaf: Leaf, text: string): void {
    const bytes = toBytes(text);
    if (bytes.length === text.length) {
      leaf.buffer!.addAsciiText(this.#doc, bytes, 0, bytes.length);
    } else {
      leaf.buffer!.addTokens(this.#doc, leaf.analyzer!.tokens(text));
    }
  }

  #keyword(leaf: Leaf, kind: number): void {
    const { field } = leaf;
    const scanner = this.#scanner;
    const isPlain = kind === json.STRING && !scanner.escaped && field.normalizer === undefined;
    if (isPlain && scanner.stop - scanner.start <= field.ignoreAbove) {
      this.#addKeyword(leaf, scanner.bytes, scanner.start, scanner.stop);
      return;
    }
    const text = this.#scalarText(kind);
    if (text.length > field.ignoreAbove) return;
    const bytes = toBytes(leaf.normalize === null ? text : leaf.normalize(text));
    this.#addKeyword(leaf, bytes, 0, bytes.length);
  }

  #completion(leaf: Leaf, kind: number): void {
    const term = completionTerm(this.#scalarText(kind), leaf.field.ignoreAbove);
    if (term === "") throw new ValueError("value must have a length > 0");
    const bytes = toBytes(term);
    this.#addKeyword(leaf, bytes, 0, bytes.length);
  }

  #addKeyword(leaf: Leaf, bytes: Uint8Array, from: number, to: number): void {
    if (to - from > MAX_TERM_BYTES) {
      throw new ValueError(
        `Document contains at least one immense term in field="${leaf.field.path}" (whose UTF8 encoding is longer than the max length ${MAX_TERM_BYTES})`,
      );
    }
    leaf.buffer!.addKeyword(this.#doc, bytes, from, to);
  }

  #scalarText(kind: number): string {
    if (kind === json.TRUE) return "true";
    if (kind === json.FALSE) return "false";
    return this.#scanner.text();
  }

  #numberText(kind: number): string {
    if (kind === json.NUMBER || kind === json.STRING) return this.#scanner.text();
    throw new ValueError(
      `Current token (VALUE_${kind === json.TRUE ? "TRUE" : "FALSE"}) not numeric, can not use numeric value accessors`,
      "json_parse_exception",
    );
  }
}
