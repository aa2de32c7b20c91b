/** German texts of Discover's and Live's tools, by the English ones. */

import type { Catalogue } from "../services/language.ts";

export const GERMAN_LINES: Catalogue = {
  "Sort by time": "Nach Zeit ordnen",
  "Sort upwards": "Aufsteigend ordnen",
  "Sort downwards": "Absteigend ordnen",
  "Move left": "Nach links",
  "Move right": "Nach rechts",
  Wider: "Breiter",
  Narrower: "Schmaler",
  "This column can't be sorted: its texts are indexed by words.":
    "Nach dieser Spalte kann nicht geordnet werden: Ihre Texte sind nach Wörtern indiziert.",
  Lines: "Zeilen",
  "In the lines that are loaded": "In den geladenen Zeilen",
  "Find in the lines": "In den Zeilen finden",
  "Find in the lines that are loaded": "In den geladenen Zeilen finden",
  "Find in the lines (s)": "In den Zeilen finden (s)",
  "Previous match": "Voriger Treffer",
  "Previous match (Shift+Enter)": "Voriger Treffer (Umschalt+Enter)",
  "Next match": "Nächster Treffer",
  "Next match (Enter)": "Nächster Treffer (Enter)",
  "Close the search in lines": "Suche in Zeilen schließen",
  "{0} of {1} lines": "{0} von {1} Zeilen",
  "Previous error (E)": "Voriger Fehler (E)",
  "Next error (e)": "Nächster Fehler (e)",
  "Wrap long lines (w)": "Lange Zeilen umbrechen (w)",
  "Copy a link": "Link kopieren",
  "Copy a link to these lines, with fixed times (y)": "Link zu diesen Zeilen kopieren, mit festen Zeiten (y)",
  "The link is copied": "Der Link ist kopiert",
  "The browser doesn't let pages copy: take the address":
    "Der Browser lässt Seiten nicht kopieren: Nehmen Sie die Adresse",
  "Where the time went": "Wo die Zeit blieb",
  "Why?": "Warum?",
  "Why so slow?": "Warum so langsam?",
  "The hub searched": "Der Hub suchte",
  "On its way": "Unterwegs",
  Drawn: "Gezeichnet",
  "{0} lines match in 1 shard.": "{0} Zeilen passen in 1 Shard.",
  "{0} lines match in {1} shards.": "{0} Zeilen passen in {1} Shards.",
  "Nothing in this search is known to be slow. A shorter time range reads less.":
    "Nichts an dieser Suche ist als langsam bekannt. Ein kürzerer Zeitraum liest weniger.",
  "Slow searches of this hub": "Langsame Suchen dieses Hubs",
};
