import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import peggy from "peggy";
import { parsePipeline } from "#hub/pipeline/language/parser.ts";
import { SourceText } from "#hub/pipeline/language/syntax-tree.ts";
import { randomFrom } from "#test/harness/random.ts";

const GRAMMAR = readFileSync(join(import.meta.dirname, "language.peggy"), "utf8");

/** Texts that are tried, half of them damaged. */
const PROGRAMS = 10_000;

const parser = peggy.generate(GRAMMAR);

function grammarTakes(text: string): boolean {
  try {
    parser.parse(text);
    return true;
  } catch {
    return false;
  }
}

function parserTakes(text: string): boolean {
  return parsePipeline(new SourceText("p.conf", text)).diagnostics.length === 0;
}

/** Writes random programs, and damages them. */
class Programs {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  next(): string {
    const text = this.#many(1, 3, () => this.#section()).join(this.#blank());
    return this.#below(2) === 0 ? text : this.#damaged(text);
  }

  #section(): string {
    const name = this.#one(["input", "filter", "output"]);
    return `${this.#maybe()}${name}${this.#maybe()}{${this.#steps(2)}}${this.#maybe()}`;
  }

  #steps(depth: number): string {
    return this.#many(0, 3, () => `${this.#maybe()}${this.#step(depth)}${this.#blank()}`).join("");
  }

  #step(depth: number): string {
    if (depth === 0 || this.#below(3) > 0) return this.#plugin(2);
    const block = (): string => `${this.#maybe()}{${this.#steps(depth - 1)}}`;
    const first = `if${this.#blank()}${this.#condition(2)}${block()}`;
    const more = this.#many(
      0,
      2,
      () => `${this.#blank()}else${this.#blank()}if${this.#blank()}${this.#condition(1)}${block()}`,
    );
    return first + more.join("") + (this.#below(2) === 0 ? `${this.#blank()}else${block()}` : "");
  }

  #plugin(depth: number): string {
    const options = this.#many(
      0,
      3,
      () => `${this.#name()}${this.#maybe()}=>${this.#maybe()}${this.#value(depth)}`,
    );
    return `${this.#name()}${this.#maybe()}{${this.#maybe()}${options.join(this.#blank())}${this.#maybe()}}`;
  }

  #value(depth: number): string {
    const kind = this.#below(depth === 0 ? 3 : 6);
    if (kind === 0) return this.#string();
    if (kind === 1) return this.#one(["word", "ab", "_x9", "true"]);
    if (kind === 2) return this.#one(["1", "-5", "017", "1.", "2.50", "09"]);
    if (kind === 3) return this.#plugin(depth - 1);
    if (kind === 4) {
      const items = this.#many(0, 3, () => `${this.#maybe()}${this.#value(depth - 1)}${this.#maybe()}`);
      return `[${items.join(",")}]`;
    }
    const entries = this.#many(0, 3, () => {
      const key = this.#one([this.#string(), "key", "5"]);
      return `${key}${this.#maybe()}=>${this.#maybe()}${this.#value(depth - 1)}`;
    });
    return `{${this.#maybe()}${entries.join(this.#blank())}${this.#maybe()}}`;
  }

  #condition(depth: number): string {
    const operator = this.#one(["and", "or", "xor", "nand"]);
    return this.#many(1, 3, () => this.#expression(depth)).join(
      `${this.#blank()}${operator}${this.#blank()}`,
    );
  }

  #expression(depth: number): string {
    const kind = this.#below(depth === 0 ? 4 : 6);
    if (kind === 0) return this.#operand();
    if (kind === 1)
      return `${this.#operand()}${this.#maybe()}${this.#one(["==", "!=", "<", ">="])}${this.#maybe()}${this.#operand()}`;
    if (kind === 2)
      return `${this.#operand()}${this.#maybe()}${this.#one(["=~", "!~"])}${this.#maybe()}${this.#one(["/a\\/b/", '"x"'])}`;
    if (kind === 3)
      return `${this.#operand()}${this.#blank()}${this.#one(["in", "not in"])}${this.#blank()}${this.#operand()}`;
    return `${kind === 4 ? "!" : ""}(${this.#maybe()}${this.#condition(depth - 1)}${this.#maybe()})`;
  }

  #operand(): string {
    return this.#one(["[a]", "[a b][c]", '"t"', "5", "-1.5", "/x{2}/", '["a", 1]', "[]", "[ [a], 'b' ]"]);
  }

  #name(): string {
    return this.#one(["grok", "date-2", "a", "9", '"quoted"', "'q'"]);
  }

  #string(): string {
    return this.#one(['"text"', "'it'", '"a \\" b"', '""', '"two\nlines"', '"%{[a][b]} # }"']);
  }

  #blank(): string {
    return this.#one([" ", "\n", "\r\n\t", " # note }\n", "\n\n"]);
  }

  #maybe(): string {
    return this.#below(3) === 0 ? this.#blank() : "";
  }

  #damaged(text: string): string {
    const at = this.#below(text.length + 1);
    const kind = this.#below(3);
    if (kind === 0) return text.slice(0, at) + text.slice(at + 1 + this.#below(3));
    const extra = this.#one([
      ..."{ } [ ] ( ) \" ' = > , ! # / \n : &".split(" "),
      " ",
      "if",
      "else",
      "=>",
      "and",
      "x",
      "0",
      "\\",
    ]);
    return text.slice(0, at) + extra + text.slice(kind === 1 ? at : at + 1);
  }

  /** 0 ≤ x < limit, whole. */
  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #one<T>(list: readonly T[]): T {
    return list[this.#below(list.length)]!;
  }

  #many(least: number, most: number, make: () => string): string[] {
    return Array.from({ length: least + this.#below(most - least + 1) }, make);
  }
}

test(`${PROGRAMS} random programs are taken or refused as the grammar does`, () => {
  const seed = Number(process.env["TAILRACE_SEED"] ?? 6);
  const programs = new Programs(randomFrom(seed));
  let taken = 0;
  for (let count = 0; count < PROGRAMS; count++) {
    const text = programs.next();
    const expected = grammarTakes(text);
    assert.equal(parserTakes(text), expected, `seed ${seed}, program ${count}: ${JSON.stringify(text)}`);
    if (expected) taken++;
  }
  assert.ok(taken > PROGRAMS / 4 && taken < PROGRAMS * 0.9, `${taken} were taken`);
});
