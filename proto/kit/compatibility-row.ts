/**
 * Options that the programs accept without effect or refuse by name: rows of `docs/compatibility.md`, each provided by
 * the part that decides.
 */

/** One option, parameter or setting that other products know and that works differently here. */
export interface CompatibilityRow {
  /** Where it is written: "filter `translate`", "query `match`", "index settings". */
  readonly where: string;
  /** Its name as a user writes it. */
  readonly name: string;
  /** `no effect`: accepted and without effect; `hint`: checked and not used; `refused`: an error that names it. */
  readonly treatment: "no effect" | "hint" | "refused";
  /** Why, and what to use instead. */
  readonly note: string;
}

/** Returns the rows as a Markdown table, sorted by place and name. */
export function compatibilityTable(rows: readonly CompatibilityRow[]): string {
  const sorted = rows.toSorted((a, b) => a.where.localeCompare(b.where) || a.name.localeCompare(b.name));
  const lines = sorted.map(
    ({ where, name, treatment, note }) => `| ${where} | \`${name}\` | ${treatment} | ${cell(note)} |`,
  );
  return ["| where | name | treatment | why, and what to use instead |", "|---|---|---|---|", ...lines].join(
    "\n",
  );
}

/** Returns a text as it is written in a cell of a Markdown table. */
export function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
