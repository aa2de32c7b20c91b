/** Dates of scripts: ZonedDateTime, its relatives, and the class of 6.5 that dates of documents have. */

import type { Methods } from "#hub/scripts/values/values.ts";
import { type TimeZone, UTC } from "#proto/kit/dates/time-zone.ts";
import { DATE_METHODS, DOCUMENT_DATE_METHODS } from "./date-methods.ts";
import { type DateKind, Moment } from "./moment.ts";

/** A moment in a zone, or a local date or time, with its methods. */
export class DateTime extends Moment {
  get methods(): Methods {
    return DATE_METHODS;
  }

  override make(timeMs: number, zone: TimeZone, nanos: number, kind: DateKind): DateTime {
    return new DateTime(timeMs, zone, nanos, kind);
  }
}

/** A date of a document, whose class before 8.0 has a day of the week that is a number. */
export class DocumentDate extends DateTime {
  /** Throws DateTimeException, as for other dates. */
  constructor(timeMs: number, zone: TimeZone = UTC, nanos = 0) {
    super(timeMs, zone, nanos, "JodaCompatibleZonedDateTime");
  }

  override get methods(): Methods {
    return DOCUMENT_DATE_METHODS;
  }

  override at(timeMs: number, nanos = this.nanos): DocumentDate {
    return new DocumentDate(timeMs, this.zone, nanos);
  }

  override toString(): string {
    return this.asJson();
  }
}
