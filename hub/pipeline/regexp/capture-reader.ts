/** Reads the captures of a match, each with the meaning of its name for the caller. */

/** A group that captures under `name`: number in the match. */
export interface Capture {
  readonly name: string;
  readonly group: number;
}

/** A repetition that holds captures; JavaScript forgets them at each round, Ruby keeps the last. */
export interface Repetition {
  /** Group of all that was repeated. */
  readonly group: number;
  /** One round. */
  readonly inner: Captures;
}

/** What captures: an expression, or one round of a repetition within one. */
export interface Captures {
  readonly captures: readonly Capture[];
  readonly repetitions: readonly Repetition[];
  /** The expression that fits `subject`. */
  expression(subject: string): RegExp;
}

/** Called for each capture that took part, in the order of the expression. */
export type CaptureVisitor<T> = (target: T, value: string) => void;

interface Round<T> {
  readonly group: number;
  readonly inner: Captures;
  readonly reader: CaptureReader<T>;
}

export class CaptureReader<T> {
  readonly #groups: readonly number[];
  readonly #targets: readonly T[];
  readonly #rounds: readonly Round<T>[];

  /** `targetOf`: what stands for a name; the same for the same name. */
  constructor({ captures, repetitions }: Captures, targetOf: (name: string) => T) {
    this.#groups = captures.map(({ group }) => group);
    this.#targets = captures.map(({ name }) => targetOf(name));
    this.#rounds = repetitions.map(({ group, inner }) => ({
      group,
      inner,
      reader: new CaptureReader(inner, targetOf),
    }));
  }

  /** What stands for the names of all captures, also of those within repetitions. */
  get targets(): readonly T[] {
    return [...this.#targets, ...this.#rounds.flatMap(({ reader }) => reader.targets)];
  }

  /** Reports the captures of a match of the expression. */
  visit(match: RegExpExecArray, visitor: CaptureVisitor<T>): void {
    const groups = this.#groups;
    for (let index = 0; index < groups.length; index++) {
      const value = match[groups[index]!];
      if (value !== undefined) visitor(this.#targets[index]!, value);
    }
    for (const { group, inner, reader } of this.#rounds) {
      const value = match[group];
      if (value !== undefined && value !== "") reader.#visitLast(value, inner, visitor);
    }
  }

  /** Reports the captures of the last round in which each took part. */
  #visitLast(text: string, captures: Captures, visitor: CaptureVisitor<T>): void {
    const last = new Map<T, string>();
    const expression = captures.expression(text);
    expression.lastIndex = 0;
    while (expression.lastIndex < text.length) {
      const match = expression.exec(text);
      if (match === null || match[0] === "") break;
      this.visit(match, (target, value) => last.set(target, value));
    }
    for (const [target, value] of last) visitor(target, value);
  }
}
