/** Times written by patterns of Joda-Time, with names in three languages. */

export interface Names {
  readonly months: readonly string[];
  readonly shortMonths: readonly string[];
  readonly days: readonly string[];
  readonly shortDays: readonly string[];
}

export const ENGLISH: Names = {
  months: "January February March April May June July August September October November December".split(" "),
  shortMonths: "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" "),
  days: "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" "),
  shortDays: "Sun Mon Tue Wed Thu Fri Sat".split(" "),
};

export const GERMAN: Names = {
  ...ENGLISH,
  months: "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split(" "),
  days: "Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag".split(" "),
};

export const FRENCH: Names = {
  ...ENGLISH,
  months: "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split(" "),
  days: "dimanche lundi mardi mercredi jeudi vendredi samedi".split(" "),
};

const DAY_MS = 86_400_000;

/** Thursday's year and the number of the week of ISO 8601. */
function isoWeek(date: Date): { year: number; week: number } {
  const day = date.getUTCDay() || 7;
  const thursday = new Date(date.getTime() + (4 - day) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const week = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS));
  return { year, week };
}

function padded(value: number, letters: string): string {
  return String(value).padStart(letters.length, "0");
}

function zone(offsetMinutes: number, letters: string): string {
  const size = Math.abs(offsetMinutes);
  const hours = String(Math.floor(size / 60)).padStart(2, "0");
  const minutes = String(size % 60).padStart(2, "0");
  return `${offsetMinutes < 0 ? "-" : "+"}${hours}${letters.length > 1 ? ":" : ""}${minutes}`;
}

/** Writes `ms` (since 1970 UTC) as the clock of a zone shows it. */
export function written(pattern: string, ms: number, offsetMinutes = 0, names = ENGLISH): string {
  const date = new Date(ms + offsetMinutes * 60_000);
  return pattern.replaceAll(/'(?:[^']|'')*'|([A-Za-z])\1*/g, (part) => {
    if (part === "''") return "'";
    if (part.startsWith("'")) return part.slice(1, -1).replaceAll("''", "'");
    return field(part, date, offsetMinutes, names);
  });
}

function field(letters: string, date: Date, offsetMinutes: number, names: Names): string {
  const length = letters.length;
  const year = date.getUTCFullYear();
  const hour = date.getUTCHours();
  switch (letters[0]) {
    case "y":
    case "Y":
      return length === 2 ? padded(year % 100, "yy") : padded(year, letters);
    case "x":
      return padded(isoWeek(date).year, letters);
    case "w":
      return padded(isoWeek(date).week, letters);
    case "e":
      return padded(date.getUTCDay() || 7, letters);
    case "M":
      if (length < 3) return padded(date.getUTCMonth() + 1, letters);
      return (length === 3 ? names.shortMonths : names.months)[date.getUTCMonth()]!;
    case "E":
      return (length < 4 ? names.shortDays : names.days)[date.getUTCDay()]!;
    case "d":
      return padded(date.getUTCDate(), letters);
    case "D":
      return padded(1 + Math.floor((date.getTime() - Date.UTC(year, 0, 1)) / DAY_MS), letters);
    case "H":
      return padded(hour, letters);
    case "k":
      return padded(hour === 0 ? 24 : hour, letters);
    case "K":
      return padded(hour % 12, letters);
    case "h":
      return padded(hour % 12 === 0 ? 12 : hour % 12, letters);
    case "a":
      return hour < 12 ? "AM" : "PM";
    case "m":
      return padded(date.getUTCMinutes(), letters);
    case "s":
      return padded(date.getUTCSeconds(), letters);
    case "S":
      return String(date.getUTCMilliseconds()).padStart(3, "0").slice(0, length).padEnd(length, "0");
    case "Z":
      return zone(offsetMinutes, letters);
    default:
      throw new Error(`no such letter: ${letters}`);
  }
}

const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const numeric = "numeric" as const;
  const known = clocks.get(timeZone);
  const clock =
    known ??
    new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    });
  clocks.set(timeZone, clock);
  return clock;
}

/** Returns minutes east of UTC that a zone's clock shows at a time. */
export function offsetAt(zoneName: string, ms: number): number {
  const parts = clockOf(zoneName).formatToParts(ms);
  const at = (type: string): number => Number(parts.find((part) => part.type === type)!.value);
  const local = Date.UTC(at("year"), at("month") - 1, at("day"), at("hour"), at("minute"), at("second"));
  return Math.round((local - Math.floor(ms / 1000) * 1000) / 60_000);
}
