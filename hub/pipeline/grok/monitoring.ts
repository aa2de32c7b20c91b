/** Patterns of Nagios and of MCollective. */

/** Texts between semicolons after the head of a line: its old and its Elastic Common Schema name. */
const HOST = "%{DATA:nagios_hostname|[host][hostname]}";
const SERVICE = "%{DATA:nagios_service|[service][name]}";
const STATE = "%{DATA:nagios_state|[service][state]}";
const MESSAGE = "%{GREEDYDATA:nagios_message|message}";
const CONTACT = "%{DATA:nagios_notifyname|[user][name]}";
const NOTIFICATION = "%{DATA:nagios_contact|[nagios][log][notification_command]}";
const LEVEL = "%{DATA:nagios_statelevel|[nagios][log][state_type]}";
const HANDLER = "%{DATA:nagios_event_handler_name|[nagios][log][event_handler_name]}";
const CODE = "%{DATA:nagios_statecode|[service][state]}";

/** Kinds of lines: name of the pattern, text in the log, the pattern after it. */
const LINES: readonly (readonly [name: string, text: string, rest: string])[] = [
  [
    "CURRENT_SERVICE_STATE",
    "CURRENT SERVICE STATE",
    `${HOST};${SERVICE};${STATE};%{DATA:nagios_statetype|[nagios][log][state_type]};%{DATA:nagios_statecode|[nagios][log][attempt]:int};${MESSAGE}`,
  ],
  [
    "CURRENT_HOST_STATE",
    "CURRENT HOST STATE",
    `${HOST};${STATE};%{DATA:nagios_statetype|[nagios][log][state_type]};%{DATA:nagios_statecode|[nagios][log][attempt]};${MESSAGE}`,
  ],
  [
    "SERVICE_NOTIFICATION",
    "SERVICE NOTIFICATION",
    `${CONTACT};${HOST};${SERVICE};${STATE};${NOTIFICATION};${MESSAGE}`,
  ],
  ["HOST_NOTIFICATION", "HOST NOTIFICATION", `${CONTACT};${HOST};${STATE};${NOTIFICATION};${MESSAGE}`],
  [
    "SERVICE_ALERT",
    "SERVICE ALERT",
    `${HOST};${SERVICE};${STATE};${LEVEL};%{NUMBER:nagios_attempt|[nagios][log][attempt]};${MESSAGE}`,
  ],
  [
    "HOST_ALERT",
    "HOST ALERT",
    `${HOST};${STATE};${LEVEL};%{NUMBER:nagios_attempt|[nagios][log][attempt]};${MESSAGE}`,
  ],
  ["SERVICE_FLAPPING_ALERT", "SERVICE FLAPPING ALERT", `${HOST};${SERVICE};${STATE};${MESSAGE}`],
  ["HOST_FLAPPING_ALERT", "HOST FLAPPING ALERT", `${HOST};${STATE};${MESSAGE}`],
  [
    "SERVICE_DOWNTIME_ALERT",
    "SERVICE DOWNTIME ALERT",
    `${HOST};${SERVICE};${STATE};%{GREEDYDATA:nagios_comment|[nagios][log][comment]}`,
  ],
  [
    "HOST_DOWNTIME_ALERT",
    "HOST DOWNTIME ALERT",
    `${HOST};${STATE};%{GREEDYDATA:nagios_comment|[nagios][log][comment]}`,
  ],
  [
    "PASSIVE_SERVICE_CHECK",
    "PASSIVE SERVICE CHECK",
    `${HOST};${SERVICE};${STATE};%{GREEDYDATA:nagios_comment|[nagios][log][comment]}`,
  ],
  [
    "PASSIVE_HOST_CHECK",
    "PASSIVE HOST CHECK",
    `${HOST};${STATE};%{GREEDYDATA:nagios_comment|[nagios][log][comment]}`,
  ],
  ["SERVICE_EVENT_HANDLER", "SERVICE EVENT HANDLER", `${HOST};${SERVICE};${STATE};${LEVEL};${HANDLER}`],
  ["HOST_EVENT_HANDLER", "HOST EVENT HANDLER", `${HOST};${STATE};${LEVEL};${HANDLER}`],
  [
    "TIMEPERIOD_TRANSITION",
    "TIMEPERIOD TRANSITION",
    "%{DATA:nagios_service|[service][name]};%{NUMBER:nagios_unknown1|[nagios][log][period_from]:int};%{NUMBER:nagios_unknown2|[nagios][log][period_to]:int}",
  ],
];

const DOWNTIME =
  "%{NUMBER:nagios_start_time|[nagios][log][start_time]};%{NUMBER:nagios_end_time|[nagios][log][end_time]};%{NUMBER:nagios_fixed|[nagios][log][fixed]};%{NUMBER:nagios_trigger_id|[nagios][log][trigger_id]};%{NUMBER:nagios_duration|[nagios][log][duration]:int};%{DATA:author|[user][name]};%{DATA:comment|[nagios][log][comment]}";

/** External commands: their name, and the pattern after it. */
const COMMANDS: readonly (readonly [command: string, rest: string])[] = [
  ["DISABLE_SVC_CHECK", `${HOST};${SERVICE}`],
  ["DISABLE_HOST_CHECK", HOST],
  ["ENABLE_SVC_CHECK", `${HOST};${SERVICE}`],
  ["ENABLE_HOST_CHECK", HOST],
  [
    "PROCESS_SERVICE_CHECK_RESULT",
    `${HOST};${SERVICE};${CODE};%{GREEDYDATA:nagios_check_result|[nagios][log][check_result]}`,
  ],
  [
    "PROCESS_HOST_CHECK_RESULT",
    `${HOST};${CODE};%{GREEDYDATA:nagios_check_result|[nagios][log][check_result]}`,
  ],
  ["SCHEDULE_SERVICE_DOWNTIME", `${HOST};${SERVICE};${DOWNTIME}`],
  ["SCHEDULE_HOST_DOWNTIME", `${HOST};${DOWNTIME}`],
  ["DISABLE_HOST_SVC_NOTIFICATIONS", HOST],
  ["DISABLE_HOST_NOTIFICATIONS", HOST],
  ["DISABLE_SVC_NOTIFICATIONS", `${HOST};${SERVICE}`],
  ["ENABLE_HOST_SVC_NOTIFICATIONS", HOST],
  ["ENABLE_HOST_NOTIFICATIONS", HOST],
  ["ENABLE_SVC_NOTIFICATIONS", `${HOST};${SERVICE}`],
];

const EXTERNAL = "%{NAGIOS_TYPE_EXTERNAL_COMMAND:nagios_type|[nagios][log][type]}";

const kinds = LINES.flatMap(([name, text, rest]) => [
  `NAGIOS_TYPE_${name} ${text}`,
  `NAGIOS_${name} %{NAGIOS_TYPE_${name}:nagios_type|[nagios][log][type]}: ${rest}`,
]);

const commands = COMMANDS.flatMap(([command, rest]) => [
  `NAGIOS_EC_${command} ${command}`,
  `NAGIOS_EC_LINE_${command} ${EXTERNAL}: %{NAGIOS_EC_${command}:nagios_command|[nagios][log][command]};${rest}`,
]);

const alternatives = [
  "%{NAGIOS_WARNING}",
  ...LINES.map(([name]) => `%{NAGIOS_${name}}`),
  ...COMMANDS.map(([command]) => `%{NAGIOS_EC_LINE_${command}}`),
];

export const monitoringPatterns = String.raw`
NAGIOSTIME \[%{NUMBER:nagios_epoch|timestamp}\]
NAGIOS_TYPE_EXTERNAL_COMMAND EXTERNAL COMMAND
NAGIOS_WARNING Warning:%{SPACE}%{GREEDYDATA:nagios_message|message}
${kinds.join("\n")}
${commands.join("\n")}
NAGIOSLOGLINE %{NAGIOSTIME} (?:${alternatives.join("|")})

MCOLLECTIVE ., \[%{TIMESTAMP_ISO8601:timestamp} #%{POSINT:pid|[process][pid]:int}\]%{SPACE}%{LOGLEVEL:event_level|[log][level]}
MCOLLECTIVEAUDIT %{TIMESTAMP_ISO8601:timestamp}:
`;
