/** Filter syslog_pri: decodes the priority of syslog (RFC 5424 §6.2.1). */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { valueText } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { flag, list, optional, options, text } from "#proto/kit/options.ts";

const FACILITIES = [
  "kernel",
  "user-level",
  "mail",
  "daemon",
  "security/authorization",
  "syslogd",
  "line printer",
  "network news",
  "uucp",
  "clock",
  "security/authorization",
  "ftp",
  "ntp",
  "log audit",
  "log alert",
  "clock",
  ...Array.from({ length: 8 }, (_, number) => `local${number}`),
];

const SEVERITIES = ["emergency", "alert", "critical", "error", "warning", "notice", "informational", "debug"];

/** user.notice: what RFC 3164 §4.3.3 gives a message without a priority. */
const DEFAULT_PRIORITY = 13;

const FAILURE_TAG = "_syslogpriparsefailure";

export const syslogPriFilter = defineFilter({
  name: "syslog_pri",
  description: "derives facility and severity from a syslog priority",
  options: options({
    use_labels: flag("adds the names", true),
    syslog_pri_field_name: optional(
      text("field that holds the priority; syslog_pri, with ECS [log][syslog][priority]"),
    ),
    facility_labels: list("names of the facilities, from 0", FACILITIES),
    severity_labels: list("names of the severities, from 0", SEVERITIES),
  }),
  create({ use_labels, syslog_pri_field_name, facility_labels, severity_labels }, { ecs }) {
    const field = (legacy: string, name: string): FieldReference => fieldReference(ecs ? name : legacy);
    const source = fieldReference(syslog_pri_field_name ?? (ecs ? "[log][syslog][priority]" : "syslog_pri"));
    const facilityCode = field("syslog_facility_code", "[log][syslog][facility][code]");
    const facilityName = field("syslog_facility", "[log][syslog][facility][name]");
    const severityCode = field("syslog_severity_code", "[log][syslog][severity][code]");
    const severityName = field("syslog_severity", "[log][syslog][severity][name]");
    return {
      apply(event) {
        const value = event.get(source);
        const first: unknown = Array.isArray(value) ? value[0] : value;
        const priority =
          first === undefined || first === null ? DEFAULT_PRIORITY : Number(valueText(first) || Number.NaN);
        if (!Number.isSafeInteger(priority) || priority < 0) {
          event.tag(FAILURE_TAG);
          return false;
        }
        const facility = Math.floor(priority / 8);
        const severity = priority % 8;
        event.set(facilityCode, facility);
        event.set(severityCode, severity);
        if (!use_labels) return true;
        if (facility_labels[facility] === undefined) {
          event.tag(FAILURE_TAG);
          return true;
        }
        event.set(facilityName, facility_labels[facility]);
        if (severity_labels[severity] !== undefined) event.set(severityName, severity_labels[severity]);
        return true;
      },
    };
  },
});
