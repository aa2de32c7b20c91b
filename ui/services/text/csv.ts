/** Lines of CSV (RFC 4180) that spreadsheets can open without executing formulas in log lines. */

/** Spreadsheets take what begins so as a formula; the name of the time is none. */
const FORMULA = /^(?:[=+\-\t\r]|@(?!timestamp$))/;
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** Returns a line, its end included. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(cell).join(",")}\r\n`;
}

function cell(text: string): string {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
