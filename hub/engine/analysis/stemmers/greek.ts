/**
 * The stemmer of G. Ntais, "Development of a Stemmer for the Greek Language" (2006). It expects lower case without accents and
 * with σ at the end, as the Greek lower-case filter leaves it.
 */

import { endsWithAny, firstRule, type Stemmer } from "./suffixes.ts";

const IRREGULAR = firstRule([
  [9, "καθεστωτοσ καθεστωτων", "καθεστ"],
  [8, "γεγονοτοσ γεγονοτων", "γεγον"],
  [8, "καθεστωτα", "καθεστ"],
  [7, "τατογιου τατογιων", "τατο"],
  [7, "γεγονοτα", "γεγον"],
  [7, "καθεστωσ", "καθεστ"],
]);

/** The ending's letters that are cut after the texts; longer words only. */
const IRREGULAR_CUTS: readonly (readonly [longerThan: number, cut: number, endings: string])[] = [
  [6, 4, "σκαγιου"],
  [0, 4, "σκαγιων ολογιου ολογιων κρεατοσ κρεατων περατοσ περατων τερατοσ τερατων"],
  [6, 3, "τατογια"],
  [6, 2, "γεγονοσ"],
  [5, 4, "φαγιου φαγιων σογιου σογιων"],
  [5, 3, "σκαγια ολογια κρεατα περατα τερατα"],
  [4, 3, "φαγια σογια φωτοσ φωτων"],
  [4, 2, "κρεασ περασ τερασ"],
  [3, 2, "φωτα"],
  [2, 1, "φωσ"],
];

function irregular(word: string): string {
  const stem = IRREGULAR(word);
  if (stem !== word) return stem;
  const rule = IRREGULAR_CUTS.find(
    ([longerThan, , endings]) => word.length > longerThan && endsWithAny(word, endings),
  );
  return rule === undefined ? word : word.slice(0, -rule[1]);
}

const VOWEL = /[αεηιουω]$/;
const VOWEL_BUT_Y = /[αεηιοω]$/;

/** A rule: what is cut, and what is put back where the rest is one of the stems, ends with an ending or with a vowel. */
interface Rule {
  readonly cut: Stemmer;
  readonly back: string;
  readonly stems?: string;
  readonly endings?: string;
  readonly vowel?: RegExp;
  /** Nothing is put back after these, whatever else holds. */
  readonly never?: (stem: string) => boolean;
  /** Puts the text back where none of the conditions holds. */
  readonly unless?: boolean;
}

function step({ cut, back, stems = "", endings, vowel, never, unless = false }: Rule): Stemmer {
  const known = new Set(stems.split(" "));
  return (word) => {
    const stem = cut(word);
    if (stem === word) return word;
    const holds =
      known.has(stem) ||
      (endings !== undefined && endsWithAny(stem, endings)) ||
      (vowel?.test(stem) ?? false);
    return holds !== unless && never?.(stem) !== true ? stem + back : stem;
  };
}

const STEPS: readonly Stemmer[] = [
  irregular,
  step({
    cut: firstRule([[4, "αδεσ αδων"]]),
    back: "αδ",
    endings: "οκ μαμ μαν μπαμπ πατερ γιαγι νταντ κυρ θει πεθερ",
    unless: true,
  }),
  step({ cut: firstRule([[4, "εδεσ εδων"]]), back: "εδ", endings: "οπ ιπ εμπ υπ γηπ δαπ κρασπ μιλ" }),
  step({
    cut: firstRule([[5, "ουδεσ ουδων"]]),
    back: "ουδ",
    endings: "αρκ καλιακ πεταλ λιχ πλεξ σκ σ φλ φρ βελ λουλ χν σπ τραγ φε",
  }),
  step({ cut: firstRule([[3, "εωσ εων"]]), back: "ε", stems: "θ δ ελ γαλ ν π ιδ παρ" }),
  step({
    cut: firstRule([
      [2, "ια"],
      [3, "ιου ιων"],
    ]),
    back: "ι",
    vowel: VOWEL,
  }),
  step({
    cut: firstRule([
      [3, "ικα ικο"],
      [4, "ικου ικων"],
    ]),
    back: "ικ",
    vowel: VOWEL,
    stems:
      `αλ αδ ενδ αμαν αμμοχαλ ηθ ανηθ αντιδ φυσ βρωμ γερ εξωδ καλπ καλλιν καταδ μουλ μπαν μπαγιατ μπολ μποσ νιτ ξικ συνομηλ
      πετσ πιτσ πικαντ πλιατσ ποστελν πρωτοδ σερτ συναδ τσαμ υποδ φιλον φυλοδ χασ`.replace(/\s+/g, " "),
  }),
  pastOfWe,
  pastOfThey,
  imperativeOfYou,
  participle,
  middleOfWe,
  step({ cut: stepOf(5, "ιεστε", 5), back: "ιεστ", stems: "π απ συμπ ασυμπ ακαταπ αμεταμφ" }),
  step({ cut: firstRule([[4, "εστε"]]), back: "εστ", stems: "αλ αρ εκτελ ζ μ ξ παρακαλ προ νισ" }),
  firstRule([
    [6, "ηθηκεσ"],
    [5, "ηθηκα ηθηκε"],
  ]),
  step({
    cut: firstRule([
      [4, "ηκεσ"],
      [3, "ηκα ηκε"],
    ]),
    back: "ηκ",
    stems: "διαθ θ παρακαταθ προσθ συνθ",
    endings: "σκωλ σκουλ ναρθ σφ οθ πιθ",
  }),
  step({
    cut: firstRule([
      [5, "ουσεσ"],
      [4, "ουσα ουσε"],
    ]),
    back: "ουσ",
    vowel: VOWEL,
    stems:
      `φαρμακ χαδ αγκ αναρρ βρομ εκλιπ λαμπιδ λεχ μ πατ ρ λ μεδ μεσαζ υποτειν αμ αιθ ανηκ δεσποζ ενδιαφερ δε δευτερευ
      καθαρευ πλε τσα`.replace(/\s+/g, " "),
    endings: "ποδαρ βλεπ πανταχ φρυδ μαντιλ μαλλ κυματ λαχ ληγ φαγ ομ πρωτ",
  }),
  step({
    cut: firstRule([
      [4, "αγεσ"],
      [3, "αγα αγε"],
    ]),
    back: "αγ",
    stems:
      `αβαστ πολυφ αδηφ παμφ ρ ασπ αφ αμαλ αμαλλι ανυστ απερ ασπαρ αχαρ δερβεν δροσοπ ξεφ νεοπ νομοτ ολοπ ομοτ προστ
      προσωποπ συμπ συντ τ υποτ χαρ αειπ αιμοστ ανυπ αποτ αρτιπ διατ εν επιτ κροκαλοπ σιδηροπ λ ναυ ουλαμ ουρ π τρ μ`.replace(
        /\s+/g,
        " ",
      ),
    endings: "οφ πελ χορτ λλ σφ ρπ φρ πρ λοχ σμην",
    never: (stem) => stem === "ψοφ" || stem === "ναυλοχ" || stem.endsWith("κολλ"),
  }),
  step({
    cut: firstRule([
      [4, "ησου"],
      [3, "ησε ησα"],
    ]),
    back: "ησ",
    stems: "ν χερσον δωδεκαν ερημον μεγαλον επταν",
  }),
  step({
    cut: firstRule([[4, "ηστε"]]),
    back: "ηστ",
    stems: "ασβ σβ αχρ χρ απλ αειμν δυσχρ ευχρ κοινοχρ παλιμψ",
  }),
  step({
    cut: firstRule([
      [6, "ησουνε ηθουνε"],
      [4, "ουνε"],
    ]),
    back: "ουν",
    stems: "ν ρ σπι στραβομουτσ κακομουτσ εξων",
  }),
  step({
    cut: firstRule([
      [6, "ησουμε ηθουμε"],
      [4, "ουμε"],
    ]),
    back: "ουμ",
    stems: "παρασουσ φ χ ωριοπλ αζ αλλοσουσ ασουσ",
  }),
  firstRule([
    [5, "ματων ματοσ", "μα"],
    [4, "ματα", "μα"],
  ]),
];

/** Cuts this many letters of words with the ending, which may be fewer than the rule's letters. */
function stepOf(longerThan: number, ending: string, cut: number): Stemmer {
  return (word) => (word.length > longerThan && word.endsWith(ending) ? word.slice(0, -cut) : word);
}

const PAST_OF_WE = firstRule([
  [7, "ηθηκαμε"],
  [6, "ουσαμε"],
  [5, "αγαμε ησαμε ηκαμε"],
]);
const AME = step({
  cut: firstRule([[3, "αμε"]]),
  back: "αμ",
  stems: "αναπ αποθ αποκ αποστ βουβ ξεθ ουλ πεθ πικρ ποτ σιχ χ",
});

function pastOfWe(word: string): string {
  return word === "αγαμε" ? "αγαμ" : AME(PAST_OF_WE(word));
}

const PAST_OF_THEY = step({
  cut: firstRule([
    [8, "ιουντανε"],
    [7, "ιοντανε"],
    [0, "ουντανε ηθηκανε"],
    [6, "ιοτανε"],
    [0, "οντανε ουσανε"],
    [5, "αγανε"],
    [0, "ησανε οτανε ηκανε"],
  ]),
  back: "αγαν",
  stems: "τρ τσ",
});
const ANE = step({
  cut: firstRule([[3, "ανε"]]),
  back: "αν",
  vowel: VOWEL_BUT_Y,
  stems:
    `βετερ βουλκ βραχμ γ δραδουμ θ καλπουζ καστελ κορμορ λαοπλ μωαμεθ μ μουσουλμ ν ουλ π πελεκ πλ πολισ πορτολ σαρακατσ
    σουλτ τσαρλατ ορφ τσιγγ τσοπ φωτοστεφ χ ψυχοπλ αγ γαλ γερ δεκ διπλ αμερικαν ουρ πιθ πουριτ σ ζωντ ικ καστ κοπ λιχ λουθηρ
    μαιντ μελ σιγ σπ στεγ τραγ τσαγ φ ερ αδαπ αθιγγ αμηχ ανικ ανοργ απηγ απιθ ατσιγγ βασ βασκ βαθυγαλ βιομηχ βραχυκ διατ διαφ
    ενοργ θυσ καπνοβιομηχ καταγαλ κλιβ κοιλαρφ λιβ μεγλοβιομηχ μικροβιομηχ νταβ ξηροκλιβ ολιγοδαμ ολογαλ πενταρφ περηφ περιτρ
    πλατ πολυδαπ πολυμηχ στεφ ταβ τετ υπερηφ υποκοπ χαμηλοδαπ ψηλοταβ`.replace(/\s+/g, " "),
});

function pastOfThey(word: string): string {
  return ANE(PAST_OF_THEY(word));
}

const HSETE = firstRule([[5, "ησετε"]]);
const ETE = step({
  cut: firstRule([[3, "ετε"]]),
  back: "ετ",
  vowel: VOWEL_BUT_Y,
  stems:
    "αβαρ βεν εναρ αβρ αδ αθ αν απλ βαρον ντρ σκ κοπ μπορ νιφ παγ παρακαλ σερπ σκελ συρφ τοκ υ δ εμ θαρρ θ",
  endings:
    "οδ αιρ φορ ταθ διαθ σχ ενδ ευρ τιθ υπερθ ραθ ενθ ροθ σθ πυρ αιν συνδ συν συνθ χωρ πον βρ καθ ευθ εκθ νετ ρον αρκ βαρ βολ ωφελ",
});

function imperativeOfYou(word: string): string {
  return ETE(HSETE(word));
}

function participle(word: string): string {
  if (word.length <= 5 || !endsWithAny(word, "οντασ ωντασ")) return word;
  const stem = word.slice(0, -5);
  if (stem === "αρχ") return `${stem}οντ`;
  return stem.endsWith("κρε") ? `${stem}ωντ` : stem;
}

function middleOfWe(word: string): string {
  if (word.length > 6 && word.endsWith("ομαστε")) return word.slice(0, word === "ονομαστε" ? -1 : -6);
  return word;
}

const ENDINGS = firstRule([
  [9, "ιοντουσαν"],
  [8, "ιομασταν ιοσασταν ιουμαστε οντουσαν"],
  [7, "ιεμαστε ιεσαστε ιομουνα ιοσαστε ιοσουνα ιουνται ιουνταν ηθηκατε ομασταν οσασταν ουμαστε"],
  [6, "ιομουν ιονταν ιοσουν ηθειτε ηθηκαν ομουνα οσαστε οσουνα ουνται ουνταν ουσατε"],
  [
    5,
    "αγατε ιεμαι ιεται ιεσαι ιοταν ιουμα ηθεισ ηθουν ηκατε ησατε ησουν ομουν ονται ονταν οσουν ουμαι ουσαν",
  ],
  [4, "αγαν αμαι ασαι αται ειτε εσαι εται ηδεσ ηδων ηθει ηκαν ησαν ησει ησεσ ομαι οταν"],
  [3, "αει εισ ηθω ησω ουν ουσ"],
  [2, "αν ασ αω ει εσ ησ οι οσ ου υσ ων"],
  [1, "α ε η ι ο υ ω"],
]);

const COMPARISON = firstRule([
  [0, "εστερ εστατ"],
  [0, "οτερ οτατ υτερ υτατ ωτερ ωτατ"],
]);

/** Returns the stem. The long list of endings is for words that none of the steps before has shortened. */
export function greekStem(word: string): string {
  if (word.length < 4) return word;
  let stem = word;
  for (const each of STEPS) stem = each(stem);
  if (stem.length === word.length) stem = ENDINGS(stem);
  return COMPARISON(stem);
}
