/** Finds the texts that the pages' sources hold, for the tests of their translations. */

/** The text of a call of `msg`, as catalogues name it: `{0}` stands for its first value. */
export function messagesOf(source: string): string[] {
  return [...source.matchAll(/\bmsg\(\s*/g)].map(({ 0: { length }, index }) => {
    const at = index + length;
    const plain = /"(?:[^"\\]|\\.)*"/y;
    plain.lastIndex = at;
    const quoted = plain.exec(source)?.[0];
    if (quoted !== undefined) return JSON.parse(quoted) as string;
    if (!source.startsWith("str`", at))
      throw new Error(`msg() takes a text in double quotes or str: ${source.slice(index, at + 60)}`);
    const { pieces } = readTemplate(source, at + 4);
    return pieces.map((piece, place) => (place === 0 ? piece : `{${place - 1}}${piece}`)).join("");
  });
}

/** Texts that stand in templates of elements as they are: words between tags, and in attributes that people are told. */
export function bareTextsOf(source: string): string[] {
  return [...source.matchAll(/\b(?:html|svg)`/g)].flatMap(({ 0: { length }, index }) => {
    const whole = readTemplate(source, index + length).pieces.join("\n");
    const between = whole.replaceAll(/<[^>]*>/g, "\n").split("\n");
    const told = whole.matchAll(/\b(?:aria-label|title|placeholder|alt)="([^"\n]*)"/g);
    return [...between, ...[...told].map((match) => match[1]!)]
      .map((text) => text.trim())
      .filter((text) => /[A-Za-z]{2}/.test(text));
  });
}

/** Reads a template from after its opening mark: its texts, and where it ends. */
function readTemplate(source: string, from: number): { readonly pieces: string[]; readonly end: number } {
  const pieces = [""];
  let at = from;
  while (source[at] !== "`") {
    if (source.startsWith("${", at)) {
      pieces.push("");
      at = endOfExpression(source, at + 2);
      continue;
    }
    if (source[at] === "\\") at++;
    pieces[pieces.length - 1] += source[at++] ?? unfinished(source, from);
  }
  return { pieces, end: at + 1 };
}

/** Returns the place after the brace that ends an expression of a template. */
function endOfExpression(source: string, from: number): number {
  let depth = 1;
  let at = from;
  while (depth > 0) {
    const character = source[at++] ?? unfinished(source, from);
    if (character === "`") at = readTemplate(source, at).end;
    else if (character === '"') at = source.indexOf('"', at) + 1;
    else if (character === "{") depth++;
    else if (character === "}") depth--;
  }
  return at;
}

function unfinished(source: string, from: number): never {
  throw new Error(`no end of the template at ${source.slice(from, from + 60)}`);
}
