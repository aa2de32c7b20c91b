/** Reads plugins and the values of their options. */

import type { Scanner, SyntaxFault } from "./scanner.ts";
import type { AttributeNode, HashEntry, PluginNode, ValueNode } from "./syntax-tree.ts";

/** Values within values; deeper than any configuration, shallow enough for the stack. */
const MAX_DEPTH = 100;

export class PluginParser {
  readonly #scan: Scanner;
  /** Levels open around what is being read. */
  depth = 0;

  constructor(scan: Scanner) {
    this.#scan = scan;
  }

  /** Reads `name { option => value … }`. Throws SyntaxFault. */
  plugin(): PluginNode {
    const scan = this.#scan;
    const start = scan.at;
    const name = scan.name() ?? scan.string();
    if (name === undefined) {
      throw scan.fault(
        `${scan.nextShown()} is out of place here`,
        "a plugin is written: name { option => value }",
      );
    }
    const nameRange = scan.range(start);
    scan.blanks();
    return this.#pluginBody(name, nameRange);
  }

  #pluginBody(name: string, nameRange: PluginNode["nameRange"]): PluginNode {
    const scan = this.#scan;
    const open = scan.at;
    if (scan.sees("=>")) {
      throw scan.fault(
        `"${name}" is an option outside of a plugin`,
        "options stand between the braces of their plugin",
        nameRange,
      );
    }
    this.expect("{", "a plugin is written: name { option => value }");
    const attributes = this.nested(() => this.#attributes(open));
    return { kind: "plugin", name, nameRange, attributes, range: scan.range(nameRange.start) };
  }

  #attributes(open: number): AttributeNode[] {
    const scan = this.#scan;
    const attributes: AttributeNode[] = [];
    scan.blanks();
    for (;;) {
      if (scan.takes("}")) return attributes;
      if (scan.isAtEnd) throw this.unclosed(open);
      attributes.push(this.#attribute());
      const separated = scan.blanks();
      if (!separated && !scan.sees("}") && !scan.isAtEnd) this.#notSeparated();
    }
  }

  #notSeparated(): never {
    const scan = this.#scan;
    if (scan.sees(","))
      throw scan.fault(
        "a comma between options",
        "options are separated by blanks or line ends: leave the comma out",
      );
    throw scan.fault(
      `${scan.nextShown()} directly after a value`,
      "put a blank or a line end between options",
    );
  }

  #attribute(): AttributeNode {
    const scan = this.#scan;
    const start = scan.at;
    const name = scan.name() ?? scan.string();
    if (name === undefined) {
      const hint = scan.sees(",")
        ? "options are separated by blanks or line ends: leave the comma out"
        : "an option is written: name => value";
      throw scan.fault(`${scan.nextShown()} where an option or the closing brace was expected`, hint);
    }
    const nameRange = scan.range(start);
    scan.blanks();
    if (scan.sees("{")) {
      throw scan.fault(
        `a plugin within a plugin`,
        `close the plugin before "${name}" with }, or write ${name} => { … }`,
        nameRange,
      );
    }
    this.#arrow(name);
    return { name, nameRange, value: this.#value() };
  }

  /** Reads `=>` and the blanks after it. */
  #arrow(name: string): void {
    const scan = this.#scan;
    if (scan.takes("=>")) {
      scan.blanks();
      return;
    }
    if (scan.sees("=") || scan.sees(":")) {
      throw scan.fault(`${scan.nextShown()} after "${name}"`, `write: ${name} => value`);
    }
    throw scan.fault(`${scan.nextShown()} after "${name}" where => was expected`, `write: ${name} => value`);
  }

  #value(): ValueNode {
    return this.nested(() => this.#anyValue());
  }

  #anyValue(): ValueNode {
    const scan = this.#scan;
    const start = scan.at;
    if (scan.sees("[")) return this.#array();
    if (scan.sees("{")) return this.#hash();
    const plugin = this.#pluginValue();
    if (plugin !== undefined) return plugin;
    const text = scan.string();
    if (text !== undefined) return { kind: "string", value: text, range: scan.range(start) };
    const word = scan.bareword();
    if (word !== undefined) return { kind: "bareword", value: word, range: scan.range(start) };
    const number = scan.number();
    if (number !== undefined) {
      if (!/[A-Za-z_.]/.test(scan.peek())) {
        const isDecimal = scan.source.text.slice(start, scan.at).includes(".");
        return { kind: "number", value: number, isDecimal, range: scan.range(start) };
      }
      scan.name();
      throw scan.fault(
        "this is not a number",
        `write it in quotes: "${scan.source.text.slice(start, scan.at)}"`,
        scan.range(start),
      );
    }
    if (/[A-Za-z_]/.test(scan.peek())) {
      throw scan.fault("a bare word has at least two characters", `write it in quotes: "${scan.peek()}"`);
    }
    const path = /^[/~.][^\s,\]}"']+/.exec(scan.source.text.slice(start, start + 256))?.[0];
    throw scan.fault(
      `${scan.nextShown()} where a value was expected`,
      path === undefined
        ? 'a value is "text", a word, a number, [ a, list ] or { key => value }'
        : `write it in quotes: "${path}"`,
    );
  }

  /** `codec => json { … }`: a name that a brace follows. */
  #pluginValue(): PluginNode | undefined {
    const scan = this.#scan;
    const start = scan.at;
    const name = scan.name() ?? scan.string();
    if (name === undefined) return undefined;
    const nameRange = scan.range(start);
    scan.blanks();
    if (scan.sees("{")) return this.#pluginBody(name, nameRange);
    scan.at = start;
    return undefined;
  }

  #array(): ValueNode {
    const scan = this.#scan;
    const start = scan.at++;
    const items: ValueNode[] = [];
    scan.blanks();
    if (!scan.takes("]")) {
      for (;;) {
        items.push(this.#value());
        scan.blanks();
        if (scan.takes("]")) break;
        if (scan.isAtEnd) throw this.unclosed(start);
        if (!scan.takes(","))
          throw scan.fault(`${scan.nextShown()} in a list`, this.#listHint(items.at(-1)!));
        scan.blanks();
        if (scan.sees("]")) throw scan.fault("a comma after the last value of a list", "leave the comma out");
      }
    }
    return { kind: "array", items, range: scan.range(start) };
  }

  /** `last` is the value before what isn't understood; an address or a path is taken for a word that ends. */
  #listHint(last: ValueNode): string {
    const { source, at } = this.#scan;
    const word = last.kind === "bareword" || last.kind === "number" ? String(last.value) : undefined;
    const rest = /^[:./][^\s,\]}"']*/.exec(source.text.slice(at, at + 256))?.[0];
    if (word === undefined || rest === undefined)
      return "the values of a list are separated by commas and closed by ]";
    return `write it in quotes: "${word}${rest}"`;
  }

  #hash(): ValueNode {
    const scan = this.#scan;
    const start = scan.at++;
    const entries: HashEntry[] = [];
    for (;;) {
      scan.blanks();
      if (scan.takes("}")) return { kind: "hash", entries, range: scan.range(start) };
      if (scan.isAtEnd) throw this.unclosed(start);
      entries.push(this.#entry());
    }
  }

  #entry(): HashEntry {
    const scan = this.#scan;
    const start = scan.at;
    const key =
      scan.string() ??
      scan.bareword() ??
      (scan.number() === undefined ? undefined : scan.source.text.slice(start, scan.at));
    if (key === undefined) {
      const hint = scan.sees(",")
        ? "entries are separated by blanks or line ends: leave the comma out"
        : 'an entry is written: "key" => value';
      throw scan.fault(`${scan.nextShown()} where a key or the closing brace was expected`, hint);
    }
    const keyRange = scan.range(start);
    scan.blanks();
    this.#arrow(key);
    return { key, keyRange, value: this.#value() };
  }

  /** Takes `text`. Throws SyntaxFault where something else comes next. */
  expect(text: string, hint: string): void {
    const scan = this.#scan;
    if (!scan.takes(text)) throw scan.fault(`${scan.nextShown()} where "${text}" was expected`, hint);
  }

  /** A brace or bracket without its partner is reported at its position, not at the end of the file. */
  unclosed(open: number): SyntaxFault {
    const scan = this.#scan;
    const what = scan.source.text[open];
    return scan.fault(
      `this "${what}" is never closed`,
      `add the closing ${what === "[" ? "]" : "}"}`,
      scan.range(open, open + 1),
    );
  }

  /** Reads one level deeper. Throws SyntaxFault if that is too deep. */
  nested<T>(read: () => T): T {
    if (++this.depth > MAX_DEPTH) throw this.#scan.fault(`more than ${MAX_DEPTH} nested levels`);
    try {
      return read();
    } finally {
      this.depth--;
    }
  }
}
