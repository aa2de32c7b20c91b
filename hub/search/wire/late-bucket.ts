/** A bucket of which many exist but few are shown: the states below it are created when they are read. */

export class LateBucket<Below = Readonly<Record<string, unknown>>> {
  readonly key: string | number;
  /** Documents. */
  readonly count: number;
  readonly #make: () => Below;
  #below: Below | undefined;

  constructor(key: string | number, count: number, make: () => Below) {
    this.key = key;
    this.count = count;
    this.#make = make;
  }

  get below(): Below {
    return (this.#below ??= this.#make());
  }
}
