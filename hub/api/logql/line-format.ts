/** Templates of `line_format` and `label_format`: Go's, without variables, loops and times. */

import { unquoteGo } from "#proto/codec/go-string.ts";
import { AppError } from "#proto/kit/errors.ts";
import { type Entry, labelOf } from "./entry.ts";
import { chargePass } from "./expressions.ts";
import { TEMPLATE_FUNCTIONS } from "./template-functions.ts";
import { checkLength, isTrue, TemplateFault, text, type Value } from "./template-values.ts";

/** Maximum nesting depth of brackets and conditions. */
const MAX_DEPTH = 32;
/** Maximum characters of a template that a message has. */
const MAX_SHOWN = 100;

type Work<T> = (entry: Entry) => T;

/** A text, or the content of braces. */
interface Piece {
  readonly isAction: boolean;
  readonly text: string;
}

/** Texts in quotes may contain braces. At each character only one of the choices fits, so that nothing is tried twice. */
const ACTION =
  /\{\{(-\s)?((?:"(?:[^"\\]|\\.)*"|`[^`]*`|\/\*(?:[^*]|\*(?!\/))*\*\/|(?!\s-\}\}|\}\}|\{\{|\/\*)[^"`])*)(\s-)?\}\}/y;

/**
 * Compiles a template. Throws request_invalid for what isn't supported; the compiled template throws it if its text gets too
 * long, and TemplateFault where a function can't work with its values.
 */
export function compileLineFormat(template: string): Work<string> {
  const reader = new TemplateReader(piecesOf(template));
  const work = reader.list(0);
  if (reader.piece !== undefined) throw fault(`unexpected {{${reader.piece.text}}}`);
  return work;
}

function piecesOf(template: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let [offset, trims] = [0, false];
  const addText = (end: number, trimsEnd: boolean): void => {
    let part = template.slice(offset, end);
    if (trims) part = part.trimStart();
    if (trimsEnd) part = part.trimEnd();
    if (part !== "") pieces.push({ isAction: false, text: part });
  };
  const next = (): number => template.indexOf("{{", offset);
  for (let start = next(); start >= 0; start = next()) {
    ACTION.lastIndex = start;
    const found = ACTION.exec(template);
    if (found === null) throw fault(`unclosed action: ${template.slice(start, start + MAX_SHOWN)}`);
    const [all, left, inner = "", right] = found;
    addText(start, left !== undefined);
    const action = inner.trim();
    if (!action.startsWith("/*")) pieces.push({ isAction: true, text: action });
    [offset, trims] = [start + all.length, right !== undefined];
  }
  addText(template.length, false);
  return pieces;
}

class TemplateReader {
  readonly #pieces: readonly Piece[];
  #at = 0;

  constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
  }

  get piece(): Piece | undefined {
    return this.#pieces[this.#at];
  }

  /** Reads pieces up to `else` or `end`. */
  list(depth: number): Work<string> {
    if (depth > MAX_DEPTH) throw fault(`conditions may stand at most ${MAX_DEPTH} deep in one another`);
    const works: Work<string>[] = [];
    for (let { piece } = this; piece !== undefined; piece = this.piece) {
      if (piece.isAction && /^(?:else|end)\b/.test(piece.text)) break;
      this.#at++;
      works.push(this.#work(piece, depth));
    }
    return (entry) => {
      let all = "";
      for (const work of works) {
        all += work(entry);
        checkLength(all.length);
      }
      return all;
    };
  }

  #work(piece: Piece, depth: number): Work<string> {
    if (!piece.isAction) return () => piece.text;
    const [, condition] = /^if\s+([\s\S]*)$/.exec(piece.text) ?? [];
    if (condition !== undefined) return this.#condition(condition, depth);
    const value = new ActionReader(piece.text).whole();
    return (entry) => text(value(entry));
  }

  /** Reads what follows after `if`. */
  #condition(source: string, depth: number): Work<string> {
    const condition = new ActionReader(source).whole();
    const then = this.list(depth + 1);
    const { piece } = this;
    this.#at++;
    const [, other] = /^else\s+if\s+([\s\S]*)$/.exec(piece?.text ?? "") ?? [];
    let otherwise: Work<string> = () => "";
    if (other !== undefined) otherwise = this.#condition(other, depth + 1);
    else if (piece?.text === "else") {
      otherwise = this.list(depth + 1);
      if (this.#pieces[this.#at++]?.text !== "end") throw fault("if without {{end}}");
    } else if (piece?.text !== "end") throw fault("if without {{end}}");
    return (entry) => (isTrue(condition(entry)) ? then(entry) : otherwise(entry));
  }
}

const TOKEN =
  /\s*(?:(?<quoted>"(?:[^"\\]|\\.)*"|`[^`]*`)|(?<label>\.[A-Za-z_]\w*)|(?<number>-?(?:\d+(?:\.\d*)?|\.\d+))(?![\w.])|(?<name>[A-Za-z_]\w*)|(?<symbol>[()|]))/y;

/** Functions that end with the first value that is true or isn't: as in Go, those after it aren't evaluated. */
const DECIDING: ReadonlyMap<string, boolean> = new Map([
  ["and", false],
  ["or", true],
]);

interface Token {
  readonly kind: string;
  readonly text: string;
}

/** Reads a pipeline: calls whose last argument is the value before `|`. */
class ActionReader {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #at = 0;

  constructor(source: string) {
    this.#source = source;
    let offset = 0;
    while (source.slice(offset).trim() !== "") {
      TOKEN.lastIndex = offset;
      const [kind, found] =
        Object.entries(TOKEN.exec(source)?.groups ?? {}).find(([, each]) => each !== undefined) ?? [];
      if (kind === undefined) throw this.#notOffered();
      this.#tokens.push({ kind, text: found! });
      offset = TOKEN.lastIndex;
    }
  }

  whole(): Work<Value> {
    const value = this.#pipeline(0);
    if (this.#at < this.#tokens.length) throw this.#notOffered();
    return value;
  }

  #pipeline(depth: number): Work<Value> {
    if (depth > MAX_DEPTH) throw fault(`brackets may stand at most ${MAX_DEPTH} deep in one another`);
    let value = this.#call(depth, undefined);
    while (this.#tokens[this.#at]?.text === "|") {
      this.#at++;
      value = this.#call(depth, value);
    }
    return value;
  }

  #call(depth: number, last: Work<Value> | undefined): Work<Value> {
    const token = this.#tokens[this.#at];
    const called = token?.kind === "name" ? TEMPLATE_FUNCTIONS.get(token.text) : undefined;
    if (called !== undefined) this.#at++;
    const values: Work<Value>[] = [];
    while (this.#at < this.#tokens.length && !["|", ")"].includes(this.#tokens[this.#at]!.text))
      values.push(this.#operand(depth));
    if (called === undefined) {
      if (values.length === 0 || last !== undefined) throw this.#notOffered();
      if (values.length === 1) return values[0]!;
      return () => {
        throw new TemplateFault("a value has arguments");
      };
    }
    if (last !== undefined) values.push(last);
    const deciding = DECIDING.get(token!.text);
    if (deciding !== undefined && values.length > 0) return (entry) => decided(values, deciding, entry);
    return (entry) => {
      const given = values.map((value) => value(entry));
      for (const each of given) if (typeof each === "string") chargePass(entry, each.length);
      const result = called(given, entry);
      // Each call may make several times as much of the result of the one before.
      if (typeof result === "string") checkLength(result.length);
      return result;
    };
  }

  #operand(depth: number): Work<Value> {
    const { kind, text: found } = this.#tokens[this.#at++]!;
    if (kind === "label") return (entry) => labelOf(entry, found.slice(1));
    if (kind === "quoted") {
      const value = found.startsWith("`") ? found.slice(1, -1) : unquoteGo(found.slice(1, -1));
      if (value === undefined) throw fault(`invalid text ${found.slice(0, 100)}`);
      return () => value;
    }
    if (kind === "number") {
      const value = found.includes(".") ? Number(found) : BigInt(found);
      return () => value;
    }
    if (found === "(") {
      const value = this.#pipeline(depth + 1);
      if (this.#tokens[this.#at++]?.text !== ")") throw this.#notOffered();
      return value;
    }
    if (found === "__line__") return (entry) => entry.line;
    if (found === "true" || found === "false") return () => found === "true";
    const called = TEMPLATE_FUNCTIONS.get(found);
    if (called === undefined) throw this.#notOffered();
    return (entry) => called([], entry);
  }

  #notOffered(): AppError {
    const names = [...TEMPLATE_FUNCTIONS.keys()].join(", ");
    return fault(
      `the template action {{${this.#source.slice(0, 200)}}} isn't offered: use {{.label}}, {{__line__}}, if, and ${names}`,
    );
  }
}

function decided(values: readonly Work<Value>[], deciding: boolean, entry: Entry): Value {
  let value: Value = "";
  for (const work of values) {
    value = work(entry);
    if (isTrue(value) === deciding) break;
  }
  return value;
}

function fault(message: string): AppError {
  return new AppError("request_invalid", `stage '| line_format' : ${message}`);
}
