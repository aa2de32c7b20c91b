/**
 * Reads a pipeline's text into its tree: recursive descent over the grammar of README.md, with recovery, so that one
 * reading names all faults.
 */

import { nearestName } from "#proto/kit/nearest.ts";
import { parseCondition } from "./condition-parser.ts";
import type { Diagnostic } from "./diagnostics.ts";
import { PluginParser } from "./plugin-parser.ts";
import { Scanner, SyntaxFault } from "./scanner.ts";
import type {
  BranchCase,
  BranchNode,
  SectionName,
  SectionNode,
  SourceText,
  StepNode,
} from "./syntax-tree.ts";

const SECTIONS: readonly SectionName[] = ["input", "filter", "output"];

/** Maximum number of faults reported at once. */
const MAX_FAULTS = 20;

export interface Parsed {
  readonly sections: readonly SectionNode[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Returns the sections of `source` as far as they could be read, and what couldn't. */
export function parsePipeline(source: SourceText): Parsed {
  return new Parser(source).parse();
}

class Parser {
  readonly #scan: Scanner;
  readonly #plugins: PluginParser;
  readonly #diagnostics: Diagnostic[] = [];
  /** True: nothing after a fault is readable. */
  #isSpoiled = false;

  constructor(source: SourceText) {
    this.#scan = new Scanner(source);
    this.#plugins = new PluginParser(this.#scan);
  }

  parse(): Parsed {
    const scan = this.#scan;
    const sections: SectionNode[] = [];
    scan.blanks();
    while (!scan.isAtEnd && this.#diagnostics.length < MAX_FAULTS) {
      const start = scan.at;
      const section = this.#guarded(() => this.#section());
      if (section !== undefined) sections.push(section);
      if (scan.at === start) scan.at++;
      scan.blanks();
    }
    if (sections.length === 0 && this.#diagnostics.length === 0) {
      const hint = "write for example: filter { } or output { elasticsearch { } }";
      this.#diagnostics.push(scan.fault("there is no section", hint).diagnostic);
    }
    return { sections, diagnostics: this.#diagnostics };
  }

  #section(): SectionNode {
    const scan = this.#scan;
    const start = scan.at;
    const name = SECTIONS.find((each) => scan.takes(each));
    if (name === undefined) {
      const word = scan.name();
      const message =
        word === undefined ? `${scan.nextShown()} is out of place here` : `"${word}" is not a section`;
      const nearest = word === undefined ? undefined : nearestName(word, SECTIONS);
      throw scan.fault(
        message,
        nearest === undefined
          ? scan.sees("//")
            ? "a comment begins with #"
            : "sections are input { … }, filter { … } and output { … }"
          : `did you mean "${nearest}"?`,
        scan.range(start, scan.at + (word === undefined ? 1 : 0)),
      );
    }
    scan.blanks();
    const open = scan.at;
    this.#plugins.expect("{", `a section is written ${name} { … }`);
    const steps = this.#steps(open);
    return { name, steps, range: scan.range(start) };
  }

  /** Reads up to the brace that closes the one at `open`. */
  #steps(open: number): StepNode[] {
    const scan = this.#scan;
    const steps: StepNode[] = [];
    for (;;) {
      scan.blanks();
      if (scan.takes("}")) return steps;
      // What a fault before passed over may well hold the brace.
      if (scan.isAtEnd && this.#isSpoiled) return steps;
      if (scan.isAtEnd) throw this.#plugins.unclosed(open);
      const start = scan.at;
      const step = this.#guarded(() => this.#step());
      if (step !== undefined) steps.push(step);
      if (scan.at === start) scan.at++;
      if (this.#diagnostics.length >= MAX_FAULTS) return steps;
    }
  }

  #step(): StepNode {
    const scan = this.#scan;
    const start = scan.at;
    if (scan.takesWord("if")) return this.#branch(start);
    for (const word of ["elsif", "elif"]) {
      if (!scan.takesWord(word)) continue;
      throw scan.fault(`"${word}" is not a keyword`, "write: else if", scan.range(start));
    }
    if (scan.takesWord("else") || scan.takesWord("elseif"))
      throw scan.fault('"else" without an "if" before it', "", scan.range(start));
    return this.#plugins.plugin();
  }

  #branch(start: number): BranchNode {
    const scan = this.#scan;
    const cases: BranchCase[] = [this.#case()];
    for (;;) {
      const back = scan.at;
      scan.blanks();
      const isElseIf = scan.takesWord("elseif");
      if (!isElseIf && !scan.takesWord("else")) {
        scan.at = back;
        break;
      }
      scan.blanks();
      if (isElseIf || scan.takesWord("if")) {
        cases.push(this.#case());
        continue;
      }
      cases.push({ condition: undefined, steps: this.#block("else is written: else { … }") });
      break;
    }
    return { kind: "branch", cases, range: scan.range(start) };
  }

  #case(): BranchCase {
    this.#scan.blanks();
    const condition = parseCondition(this.#scan);
    return { condition, steps: this.#block(this.#behindCondition()) };
  }

  /** Hint where a condition isn't followed by a block. */
  #behindCondition(): string {
    const scan = this.#scan;
    const back = scan.at;
    scan.blanks();
    const rest = scan.source.text.slice(scan.at, scan.at + 4);
    const before = scan.source.text.slice(0, back).trimEnd();
    scan.at = back;
    if (/^(!\s?)?in\b/.test(rest)) return "that something isn't in a list is written: [field] not in [ … ]";
    if (before.endsWith("/") && !rest.startsWith("{"))
      return "a slash inside of an expression is written \\/";
    return "a condition is followed by { … }";
  }

  #block(hint: string): StepNode[] {
    const scan = this.#scan;
    scan.blanks();
    const open = scan.at;
    this.#plugins.expect("{", hint);
    return this.#plugins.nested(() => this.#steps(open));
  }

  /** Reads; a fault is recorded and what it spoils is passed over. */
  #guarded<T>(read: () => T): T | undefined {
    const depth = this.#plugins.depth;
    const start = this.#scan.at;
    try {
      return read();
    } catch (error) {
      if (!(error instanceof SyntaxFault)) throw error;
      this.#diagnostics.push(error.diagnostic);
      this.#plugins.depth = depth;
      this.#recover(start);
      return undefined;
    }
  }

  /** Moves after the brace that closes what was opened since `start`; a brace that closes more is left. */
  #recover(start: number): void {
    const scan = this.#scan;
    const fault = scan.at;
    scan.at = start;
    for (let depth = 0; !scan.isAtEnd; ) {
      if (scan.blanks()) continue;
      const next = scan.peek();
      if (next === "}" && depth === 0) return;
      if (next === "{") depth++;
      if (next === "}") depth--;
      if (next === '"' || next === "'") this.#skipString();
      else scan.at++;
      if (next === "}" && depth === 0 && scan.at > fault && !this.#elseFollows()) return;
    }
    this.#isSpoiled = true;
  }

  /** The other cases of a condition whose first one is at fault go with it. */
  #elseFollows(): boolean {
    const back = this.#scan.at;
    this.#scan.blanks();
    const follows = this.#scan.takesWord("else");
    this.#scan.at = back;
    return follows;
  }

  #skipString(): void {
    try {
      this.#scan.string();
    } catch {
      this.#scan.at = this.#scan.source.text.length;
    }
  }
}
