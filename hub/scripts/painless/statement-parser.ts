/** Parses a script: functions first, then statements. Source: the parser grammar of the 6.5 server's scripting language. */

import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { readExpression } from "./expression-parser.ts";
import { type Token, tokenise } from "./lexer.ts";
import type {
  Block,
  Catch,
  Expression,
  FunctionDeclaration,
  Parameter,
  Script,
  Statement,
} from "./syntax.ts";
import { isSymbol, TokenReader } from "./token-reader.ts";
import { isDeclaration, readType } from "./type-parser.ts";

/** Returns the tree of a script. Throws ScriptException with the offset of what doesn't fit. */
export function parseScript(source: string): Script {
  return parseTokens(tokenise(source));
}

/** Returns the tree of the tokens of a script. Throws ScriptException with the offset of what doesn't fit. */
export function parseTokens(tokens: readonly Token[]): Script {
  return new StatementParser(new TokenReader(tokens)).script();
}

class StatementParser {
  readonly #tokens: TokenReader;

  constructor(tokens: TokenReader) {
    this.#tokens = tokens;
  }

  script(): Script {
    const functions: FunctionDeclaration[] = [];
    while (this.#isFunction()) functions.push(this.#function());
    const statements: Statement[] = [];
    while (this.#tokens.token.kind !== "end") {
      if (!this.#tokens.accept(";")) statements.push(...this.#statement());
    }
    return { functions, statements };
  }

  expression(): Expression {
    return readExpression(this.#tokens, this);
  }

  block(): Block {
    return this.#tokens.nested(() => {
      const { offset } = this.#tokens.expect("{");
      const statements: Statement[] = [];
      while (!this.#tokens.accept("}")) {
        if (!this.#tokens.accept(";")) statements.push(...this.#statement());
      }
      return { kind: "block", offset, statements };
    });
  }

  /** "type name(" at the beginning of a script. */
  #isFunction(): boolean {
    if (!isDeclaration(this.#tokens)) return false;
    let ahead = 1;
    while (!isSymbol(this.#tokens.peek(ahead), "(") && ahead < 20) {
      const token = this.#tokens.peek(ahead);
      const isPart = token.kind === "name" || [".", "[", "]"].some((text) => isSymbol(token, text));
      if (!isPart) return false;
      ahead++;
    }
    return isSymbol(this.#tokens.peek(ahead), "(");
  }

  #function(): FunctionDeclaration {
    const returns = readType(this.#tokens);
    const { text: name, offset } = this.#tokens.expectName();
    this.#tokens.expect("(");
    const parameters: Parameter[] = [];
    while (!this.#tokens.accept(")")) {
      if (parameters.length > 0) this.#tokens.expect(",");
      parameters.push({ type: readType(this.#tokens), name: this.#tokens.expectName().text });
    }
    return { returns, name, parameters, body: this.block(), offset };
  }

  /** A block on its own gives its statements; a declaration may be several. */
  #statement(): Statement[] {
    return this.#tokens.nested(() => this.#oneStatement());
  }

  #oneStatement(): Statement[] {
    const { text, offset, kind } = this.#tokens.token;
    if (kind === "keyword") {
      switch (text) {
        case "if":
          return [this.#if()];
        case "while":
          return [this.#while()];
        case "do":
          return [this.#do()];
        case "for":
          return [this.#for()];
        case "try":
          return [this.#try()];
        case "continue":
        case "break":
          this.#tokens.next();
          this.#end();
          return [{ kind: text, offset }];
        case "return": {
          this.#tokens.next();
          const isBare = this.#tokens.is(";") || this.#tokens.is("}") || this.#tokens.token.kind === "end";
          const value = isBare ? undefined : this.expression();
          this.#end();
          return [{ kind: "return", value, offset }];
        }
        case "throw": {
          this.#tokens.next();
          const value = this.expression();
          this.#end();
          return [{ kind: "throw", value, offset }];
        }
        default:
          break;
      }
    }
    if (this.#tokens.is("{")) {
      const test: Expression = { kind: "constant", value: true, offset };
      return [{ kind: "if", test, yes: this.block(), no: undefined, offset }];
    }
    if (isDeclaration(this.#tokens)) {
      const declared = this.#declaration();
      this.#end();
      return declared;
    }
    const expression = this.expression();
    this.#end();
    return [{ kind: "expression", expression, offset }];
  }

  /** A statement ends with a semicolon; the last one of a block or script may leave it out. */
  #end(): void {
    if (this.#tokens.accept(";") || this.#tokens.is("}") || this.#tokens.token.kind === "end") return;
    throw this.#tokens.unexpected();
  }

  #declaration(): Statement[] {
    const type = readType(this.#tokens);
    const declared: Statement[] = [];
    do {
      const { text: name, offset } = this.#tokens.expectName();
      const value = this.#tokens.accept("=") ? this.expression() : undefined;
      declared.push({ kind: "declaration", type, name, value, offset });
    } while (this.#tokens.accept(","));
    return declared;
  }

  #if(): Statement {
    const { offset } = this.#tokens.next();
    const test = this.#condition();
    const yes = this.#body();
    const no = this.#tokens.accept("else") ? this.#body() : undefined;
    return { kind: "if", test, yes, no, offset };
  }

  #while(): Statement {
    const { offset } = this.#tokens.next();
    const test = this.#condition();
    const body = this.#tokens.accept(";") ? empty(offset) : this.#body();
    return { kind: "while", test, body, offset };
  }

  #do(): Statement {
    const { offset } = this.#tokens.next();
    const body = this.block();
    this.#tokens.expect("while");
    const test = this.#condition();
    this.#end();
    return { kind: "do", body, test, offset };
  }

  #for(): Statement {
    const { offset } = this.#tokens.next();
    this.#tokens.expect("(");
    const each = this.#each(offset);
    if (each !== undefined) return each;
    const first = this.#forFirst(offset);
    const test = this.#tokens.is(";") ? undefined : this.expression();
    this.#tokens.expect(";");
    const after = this.#tokens.is(")") ? undefined : this.expression();
    this.#tokens.expect(")");
    const body = this.#tokens.accept(";") ? empty(offset) : this.#body();
    return { kind: "for", first, test, after, body, offset };
  }

  #forFirst(offset: number): readonly Statement[] {
    if (this.#tokens.accept(";")) return [];
    const first: Statement[] = isDeclaration(this.#tokens)
      ? this.#declaration()
      : [{ kind: "expression", expression: this.expression(), offset }];
    this.#tokens.expect(";");
    return first;
  }

  /** "for (type x : values)" or "for (x in values)", after the parenthesis. */
  #each(offset: number): Statement | undefined {
    const isIn = this.#tokens.token.kind === "name" && isSymbol(this.#tokens.peek(1), "in");
    if (!isIn && !this.#isTypedEach()) return undefined;
    const type = isIn ? { name: "def", dimensions: 0, offset } : readType(this.#tokens);
    const name = this.#tokens.expectName().text;
    this.#tokens.next();
    const values = this.expression();
    this.#tokens.expect(")");
    return { kind: "each", type, name, values, body: this.#body(), offset };
  }

  #isTypedEach(): boolean {
    if (!isDeclaration(this.#tokens)) return false;
    for (let ahead = 1; ; ahead++) {
      const token = this.#tokens.peek(ahead);
      if (isSymbol(token, ":")) return true;
      if (token.kind !== "name" && ![".", "[", "]"].some((text) => isSymbol(token, text))) return false;
    }
  }

  #try(): Statement {
    const { offset } = this.#tokens.next();
    const body = this.block();
    const catches: Catch[] = [];
    while (this.#tokens.accept("catch")) {
      this.#tokens.expect("(");
      const type = readType(this.#tokens);
      const name = this.#tokens.expectName().text;
      this.#tokens.expect(")");
      catches.push({ type, name, body: this.block() });
    }
    if (catches.length === 0) throw this.#tokens.unexpected("'catch'");
    return { kind: "try", body, catches, offset };
  }

  #condition(): Expression {
    this.#tokens.expect("(");
    const test = this.expression();
    this.#tokens.expect(")");
    return test;
  }

  #body(): Block {
    if (this.#tokens.is("{")) return this.block();
    const { offset } = this.#tokens.token;
    const statements = this.#statement();
    if (statements.some(({ kind }) => kind === "declaration"))
      throw new ScriptException("IllegalArgumentException", "a declaration needs a block of its own", offset);
    return { kind: "block", offset, statements };
  }
}

function empty(offset: number): Block {
  return { kind: "block", offset, statements: [] };
}
