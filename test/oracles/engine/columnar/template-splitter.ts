/**
 * Cuts long texts into templates and what varies in them: values of other columns of the same document, and words with
 * digits. Log lines of one statement have one template.
 */

import { randomInt } from "node:crypto";
import { type ByteBuffer, IntList } from "#hub/engine/bytes/byte-buffer.ts";
import { ColumnValues, type ReferredColumn } from "./column-values.ts";
import { TemplateTree } from "./template-tree.ts";
import { TextTemplate } from "./text-template.ts";
import { hasDigit, isWordByte } from "./words.ts";

/** Rows that a template has at least: rarer ones are one variable. */
const FEWEST_ROWS = 4;
/** Templates that are looked for in a block, and parts of one, at most. */
const MAX_TEMPLATES = 1000;
const MAX_PARTS = 250;
/** Values of fewer bytes aren't references: they occur in a text by chance. */
const FEWEST_BYTES = 2;
/** Longest text that is cut. */
const MAX_TEXT_BYTES = 4096;
/** Rows at the start that decide which columns texts refer to. */
const SAMPLE = 32;

const FACTOR_A = 0x0100_0193;
const FACTOR_B = 0x85eb_ca6b;
const SEED_A = randomInt(2 ** 31);
const SEED_B = randomInt(2 ** 31);
const VARIABLE_EVENT = 0x100;
/** Template of a text that isn't cut. */
const NONE = -1;

/** A template, its rows, and its variables as columns of these. */
export interface Template {
  /** Appends the operations of the grammar. */
  write(out: ByteBuffer): void;
  readonly variables: readonly ColumnValues[];
}

export interface SplitTexts {
  readonly templates: readonly Template[];
  /** Template of each row. */
  readonly templateOf: Float64Array;
}

/** Splits columns; what it holds is that of the last one. */
export class TemplateSplitter {
  #columns: readonly ReferredColumn[] = [];
  #found: TextTemplate[] = [];
  readonly #byHash = new Map<number, TextTemplate>();
  #tree = new TemplateTree();
  /** Variables of all rows one after another. */
  readonly #starts = new IntList();
  readonly #stops = new IntList();
  /** First candidate by first byte, and the next one of each: 1 + its index. */
  readonly #heads = new Int32Array(256);
  #nexts = new Int32Array(16);

  /** Null where no template has enough rows. */
  split(values: ColumnValues, columns: readonly ReferredColumn[]): SplitTexts | null {
    const { count, bytes } = values;
    this.#columns = columns;
    this.#reset();
    const found = new Int32Array(count);
    for (let row = 0; row < count; row++) {
      if (row === SAMPLE) this.#columns = columns.filter(({ number }) => this.#isReferred(number));
      found[row] = this.#find(values, row);
    }
    const whole = { write: writeWhole, variables: [new ColumnValues(bytes, 0)] };
    const templates: Template[] = [whole];
    const numbers = this.#found.map((template) => {
      if (template.rows < FEWEST_ROWS) return 0;
      const variables = Array.from(
        { length: template.variableCount },
        () => new ColumnValues(bytes, template.rows),
      );
      return templates.push({ write: (out) => template.write(out), variables }) - 1;
    });
    if (templates.length === 1) return null;
    const templateOf = new Float64Array(count);
    for (let row = 0, at = 0; row < count; row++) {
      const template = found[row]! === NONE ? null : this.#found[found[row]!]!;
      const number = template === null ? 0 : numbers[found[row]!]!;
      templateOf[row] = number;
      if (number === 0) whole.variables[0]!.add(values.starts.values[row]!, values.stops.values[row]!);
      else
        for (const [variable, column] of templates[number]!.variables.entries())
          column.add(this.#starts.values[at + variable]!, this.#stops.values[at + variable]!);
      at += template?.variableCount ?? 0;
    }
    return { templates, templateOf };
  }

  #reset(): void {
    this.#found = [];
    this.#byHash.clear();
    this.#tree = new TemplateTree();
    this.#starts.length = 0;
    this.#stops.length = 0;
  }

  #isReferred(number: number): boolean {
    return this.#found.some((template) => template.refersTo(number));
  }

  /** Finds the template of a row's text, a new one where there is none, and notes its variables. */
  #find(values: ColumnValues, row: number): number {
    const { bytes } = values;
    const from = values.starts.values[row]!;
    const to = values.stops.values[row]!;
    const starts = this.#starts;
    const stops = this.#stops;
    const known = this.#tree.find({ bytes, from, to, row, starts, stops });
    const template = known ?? this.#findByParts(bytes, from, to, row);
    if (template === null || (known === null && !template.match(from, to, row, starts, stops))) return NONE;
    template.rows++;
    return template.number;
  }

  #findByParts(bytes: Uint8Array, from: number, to: number, row: number): TextTemplate | null {
    if (to - from > MAX_TEXT_BYTES) return null;
    const next = new TextTemplate(bytes);
    const hash = this.#cut(next, from, to, row);
    const known = this.#byHash.get(hash);
    if (known !== undefined) return known;
    if (this.#found.length === MAX_TEMPLATES || next.parts.length > MAX_PARTS) return null;
    next.number = this.#found.push(next) - 1;
    this.#byHash.set(hash, next);
    this.#tree.add(next);
    return next;
  }

  /** Cuts a text into the parts of `template` and returns the hash of these. */
  #cut(template: TextTemplate, from: number, to: number, row: number): number {
    const { bytes } = template;
    let a = SEED_A;
    let b = SEED_B;
    this.#offer(bytes, row, true);
    for (let at = from; at < to; ) {
      const column = this.#heads[bytes[at]!] === 0 ? null : this.#referenceAt(bytes, at, to, row);
      let stop = at;
      let event = VARIABLE_EVENT;
      if (column !== null) {
        stop += template.addReference(column, row);
        event += 1 + column.number;
      } else {
        stop = endOfWord(bytes, at, to);
        if (hasDigit(bytes, at, stop)) template.addVariable();
        else {
          template.addLiteral(at, stop);
          for (; at < stop; at++) {
            a = Math.imul(a ^ bytes[at]!, FACTOR_A);
            b = Math.imul(b ^ (b >>> 15) ^ bytes[at]!, FACTOR_B);
          }
          continue;
        }
      }
      a = Math.imul(a ^ event, FACTOR_A);
      b = Math.imul(b ^ (b >>> 15) ^ event, FACTOR_B);
      at = stop;
    }
    this.#offer(bytes, row, false);
    return (a >>> 0) * 2 ** 21 + ((b ^ (b >>> 13)) >>> 11);
  }

  /** Lets a row's values be found by their first byte, or no more. */
  #offer(bytes: Uint8Array, row: number, isOffered: boolean): void {
    const columns = this.#columns;
    if (this.#nexts.length < columns.length) this.#nexts = new Int32Array(2 * columns.length);
    for (let index = 0; index < columns.length; index++) {
      const { starts, stops } = columns[index]!.values;
      const start = starts.values[row]!;
      if (stops.values[row]! - start < FEWEST_BYTES) continue;
      const first = bytes[start]!;
      this.#nexts[index] = isOffered ? this.#heads[first]! : 0;
      this.#heads[first] = isOffered ? index + 1 : 0;
    }
  }

  /** The column with the longest value that is at `at` and ends with a word. */
  #referenceAt(bytes: Uint8Array, at: number, to: number, row: number): ReferredColumn | null {
    let best = 0;
    let found: ReferredColumn | null = null;
    for (let candidate = this.#heads[bytes[at]!]!; candidate > 0; candidate = this.#nexts[candidate - 1]!) {
      const column = this.#columns[candidate - 1]!;
      const start = column.values.starts.values[row]!;
      const length = column.values.stops.values[row]! - start;
      if (length <= best || at + length > to || !endsWord(bytes, at + length, to)) continue;
      let same = 1;
      while (same < length && bytes[at + same] === bytes[start + same]) same++;
      if (same < length) continue;
      best = length;
      found = column;
    }
    return found;
  }
}

/** End of the word that begins at `from`; one byte that is of no word is one. */
function endOfWord(bytes: Uint8Array, from: number, to: number): number {
  let at = from + 1;
  if (isWordByte(bytes[from]!)) while (at < to && isWordByte(bytes[at]!)) at++;
  return at;
}

/** Whether a word ends at `at`. */
function endsWord(bytes: Uint8Array, at: number, to: number): boolean {
  return at >= to || !isWordByte(bytes[at]!) || !isWordByte(bytes[at - 1]!);
}

/** Writes the template of texts that are one variable. */
function writeWhole(out: ByteBuffer): void {
  TextTemplate.writeVariable(out);
}
