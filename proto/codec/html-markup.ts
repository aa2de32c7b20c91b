/** Finds HTML's tags, comments and entities in a text, in time linear in its length, and returns the text without them. */

/** Names of the characters from U+00A0 to U+00FF, in order. */
const LATIN = `nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro
  para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute
  Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN
  szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve
  oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml`;
/** Names, each followed by its character. */
const OTHERS = `quot " amp & lt < gt > apos ' OElig Œ oelig œ Scaron Š scaron š Yuml Ÿ fnof ƒ circ ˆ tilde ˜ Alpha Α Beta Β Gamma Γ
  Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π Rho Ρ Sigma Σ Tau Τ Upsilon Υ Phi Φ
  Chi Χ Psi Ψ Omega Ω alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ omicron ο
  pi π rho ρ sigmaf ς sigma σ tau τ upsilon υ phi φ chi χ psi ψ omega ω thetasym ϑ upsih ϒ piv ϖ ndash – mdash — lsquo ‘ rsquo ’
  sbquo ‚ ldquo “ rdquo ” bdquo „ dagger † Dagger ‡ bull • hellip … permil ‰ prime ′ Prime ″ lsaquo ‹ rsaquo › oline ‾ frasl ⁄ euro €
  image ℑ weierp ℘ real ℜ trade ™ alefsym ℵ larr ← uarr ↑ rarr → darr ↓ harr ↔ crarr ↵ lArr ⇐ uArr ⇑ rArr ⇒ dArr ⇓ hArr ⇔ forall ∀
  part ∂ exist ∃ empty ∅ nabla ∇ isin ∈ notin ∉ ni ∋ prod ∏ sum ∑ minus − lowast ∗ radic √ prop ∝ infin ∞ ang ∠ and ∧ or ∨ cap ∩ cup ∪
  int ∫ there4 ∴ sim ∼ cong ≅ asymp ≈ ne ≠ equiv ≡ le ≤ ge ≥ sub ⊂ sup ⊃ nsub ⊄ sube ⊆ supe ⊇ oplus ⊕ otimes ⊗ perp ⊥ sdot ⋅ lceil ⌈
  rceil ⌉ lfloor ⌊ rfloor ⌋ loz ◊ spades ♠ clubs ♣ hearts ♥ diams ♦`;
/** Written as numbers: they would be lost among white space. */
const SPACES: Readonly<Record<string, string>> = {
  nbsp: " ",
  ensp: "\u2002",
  emsp: "\u2003",
  thinsp: "\u2009",
  zwnj: "\u200c",
  zwj: "\u200d",
  lrm: "\u200e",
  rlm: "\u200f",
};

/** A piece of markup. */
interface Markup {
  readonly index: number;
  readonly 0: string;
  /** The tag's name in lower case; "" for other markup. */
  readonly name: string;
}

const START =
  /<!--|<!\[CDATA\[|\]\]>|<[!?][a-z]|<\/?([a-z][\w:.-]*)(?=[\s/>])|&(?:#x[0-9a-f]+|#\d+|[a-z]\w*);?/gi;

/** Where the ends of markup are: each is looked for once, however many openings wait for it. */
class Ends {
  readonly #text: string;
  readonly #found = new Map<string, { readonly index: number; readonly end: number }>();

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the offset after the first match of `end` that begins at `from` or later; Infinity where there is none. */
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

const NONE_KEPT: ReadonlySet<string> = new Set();

let named: ReadonlyMap<string, string> | undefined;

/** Tags within a line; all others become a line break. */
const INLINE: ReadonlySet<string> = new Set(
  `a abbr acronym b basefont bdo big cite code dfn em font i img input kbd label q s samp select small span strike strong sub sup
  textarea tt u var`.split(/\s+/),
);

/** Returns the replacement of a piece of markup: a tag in `kept` itself, a character, a line break or nothing. */
export function textOfMarkup({ 0: text, name }: Markup, kept: ReadonlySet<string>): string {
  if (text.startsWith("&")) return decodeEntity(text);
  if (kept.has(name)) return text;
  return name === "" || INLINE.has(name) ? "" : "\n";
}

/** Returns a text without its markup; what has no end isn't markup. Half of a character becomes U+FFFD. */
export function withoutMarkup(text: string): string {
  let result = "";
  let done = 0;
  for (const markup of findMarkup(text)) {
    result += text.slice(done, markup.index) + textOfMarkup(markup, NONE_KEPT);
    done = markup.index + markup[0].length;
  }
  return (result + text.slice(done)).toWellFormed();
}

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

/**
 * Returns the character of `&name;`, `&#1;` or `&#x1;`; the text itself where there is none. The names
 * are those of HTML 4.
 */
function decodeEntity(text: string): string {
  const name = text.slice(1).replace(/;$/, "");
  if (name.startsWith("#")) {
    const point = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return point <= 0x10_ffff ? String.fromCodePoint(point) : text;
  }
  named ??= readNames();
  return named.get(name) ?? text;
}

function readNames(): ReadonlyMap<string, string> {
  const names = new Map(LATIN.split(/\s+/).map((name, at) => [name, String.fromCharCode(0xa0 + at)]));
  const others = OTHERS.split(/\s+/);
  for (let at = 0; at < others.length; at += 2) names.set(others[at]!, others[at + 1]!);
  for (const [name, character] of Object.entries(SPACES)) names.set(name, character);
  return names;
}
