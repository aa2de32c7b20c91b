/** Finds tags, comments and entities of HTML in time linear in the text. */

/** A piece of markup. */
export interface Markup {
  readonly index: number;
  readonly 0: string;
  /** The tag's name in lower case; "" for other markup. */
  readonly name: string;
}

const START =
  /<!--|<!\[CDATA\[|\]\]>|<[!?][a-z]|<\/?([a-z][\w:.-]*)(?=[\s/>])|&(?:#x[0-9a-f]+|#\d+|[a-z]\w*);?/gi;

/** Yields the markup of a text from its start to its end. What has no end isn't markup. */
export function* findMarkup(text: string): Generator<Markup> {
  const ends = new Ends(text);
  const start = new RegExp(START);
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    const [opening, tag = ""] = match;
    const name = tag.toLowerCase();
    const end = endOf(opening, name, start.lastIndex, ends);
    if (end === Number.POSITIVE_INFINITY) continue;
    yield { index: match.index, 0: text.slice(match.index, end), name };
    start.lastIndex = end;
  }
}

/** Returns where the markup ends that an opening begins; Infinity where it doesn't. */
function endOf(opening: string, name: string, from: number, ends: Ends): number {
  if (opening === "<!--") return ends.after("-->", from);
  if (name === "") return /^<[!?][a-z]$/i.test(opening) ? ends.after(">", from) : from;
  const close = ends.after(">", from);
  if (/^<(?:script|style)$/i.test(opening)) {
    const whole = ends.after(`</${name}\\s*>`, close);
    if (whole !== Number.POSITIVE_INFINITY) return whole;
  }
  return ends.after("<", from) < close ? Number.POSITIVE_INFINITY : close;
}

/** Where the ends of markup are: each is looked for once, however many openings wait for it. */
class Ends {
  readonly #text: string;
  readonly #found = new Map<string, { readonly index: number; readonly end: number }>();

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the offset behind the first match of `end` that begins at `from` or later; Infinity where there is none. */
  after(end: string, from: number): number {
    if (from === Number.POSITIVE_INFINITY) return from;
    const known = this.#found.get(end);
    if (known !== undefined && known.index >= from) return known.end;
    const pattern = new RegExp(end, "gi");
    pattern.lastIndex = from;
    const index = pattern.exec(this.#text)?.index ?? Number.POSITIVE_INFINITY;
    const found = { index, end: index === Number.POSITIVE_INFINITY ? index : pattern.lastIndex };
    this.#found.set(end, found);
    return found.end;
  }
}
