/** Text output of a command. */

export interface Terminal {
  /** Writes to standard output. */
  print(text: string): void;
  /** Writes to standard error. */
  warn(text: string): void;
}

/** Standard output and standard error of this process. */
export const PROCESS_TERMINAL: Terminal = {
  print: (text) => void process.stdout.write(text),
  warn: (text) => void process.stderr.write(text),
};
