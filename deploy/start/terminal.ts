/** Terminal output of `npm start`. */

/** Prints a line. */
export function say(text: string): void {
  process.stdout.write(`tailrace: ${text}\n`);
}

/** Shows a line that the next one replaces; nothing where no terminal shows it. */
export function progress(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\u001b[2Ktailrace: ${text}`);
}

/** Ends a line of progress. */
export function endProgress(): void {
  if (process.stdout.isTTY) process.stdout.write("\n");
}
