/** Patterns of syslog's lines. */

export const syslogPatterns = String.raw`
SYSLOGTIMESTAMP %{MONTH} +%{MONTHDAY} %{TIME}
PROG [\x21-\x5a\x5c\x5e-\x7e]+
SYSLOGPROG %{PROG:program|[process][name]}(?:\[%{POSINT:pid|[process][pid]:int}\])?
SYSLOGHOST %{IPORHOST}
SYSLOGFACILITY <%{NONNEGINT:facility|[log][syslog][facility][code]:int}.%{NONNEGINT:priority|[log][syslog][priority]:int}>
SYSLOGBASE %{SYSLOGTIMESTAMP:timestamp} (?:%{SYSLOGFACILITY} )?%{SYSLOGHOST:logsource|[host][hostname]} %{SYSLOGPROG}:
legacy SYSLOGBASE2 (?:%{SYSLOGTIMESTAMP:timestamp}|%{TIMESTAMP_ISO8601:timestamp8601})(?: %{SYSLOGFACILITY})? %{SYSLOGHOST:logsource}(?: %{SYSLOGPROG}:)?
ecs SYSLOGBASE2 (?:%{SYSLOGTIMESTAMP:timestamp}|%{TIMESTAMP_ISO8601:timestamp})(?: %{SYSLOGFACILITY})?(?: %{SYSLOGHOST:[host][hostname]})?(?: %{SYSLOGPROG}:)?
SYSLOGLINE %{SYSLOGBASE2} %{GREEDYDATA:message}
legacy SYSLOGPAMSESSION %{SYSLOGBASE} (?=%{GREEDYDATA:message})%{WORD:pam_module|[system][auth][pam][module]}\(%{DATA:pam_caller|[system][auth][pam][origin]}\): session %{WORD:pam_session_state|[system][auth][pam][session_state]} for user %{USERNAME:username|[user][name]}(?: by %{GREEDYDATA:pam_by})?
ecs SYSLOGPAMSESSION %{SYSLOGBASE} (?=%{GREEDYDATA:message})%{WORD:pam_module|[system][auth][pam][module]}\(%{DATA:pam_caller|[system][auth][pam][origin]}\): session %{WORD:pam_session_state|[system][auth][pam][session_state]} for user %{USERNAME:username|[user][name]}
CRON_ACTION [A-Z ]+
CRONLOG %{SYSLOGBASE} \(%{USER:user|[user][name]}\) %{CRON_ACTION:action|[system][cron][action]} \(%{DATA:message}\)
SYSLOG5424PRINTASCII [!-~]+
SYSLOG5424PRI <%{NONNEGINT:syslog5424_pri|[log][syslog][priority]:int}>
SYSLOG5424SD \[%{DATA}\]+
SYSLOG5424BASE %{SYSLOG5424PRI}%{NONNEGINT:syslog5424_ver|[system][syslog][version]} +(?:-|%{TIMESTAMP_ISO8601:syslog5424_ts|timestamp}) +(?:-|%{IPORHOST:syslog5424_host|[host][hostname]}) +(?:-|%{SYSLOG5424PRINTASCII:syslog5424_app|[process][name]}) +(?:-|%{SYSLOG5424PRINTASCII:syslog5424_proc|[process][pid]:int}) +(?:-|%{SYSLOG5424PRINTASCII:syslog5424_msgid|[event][code]}) +(?:-|%{SYSLOG5424SD:syslog5424_sd|[system][syslog][structured_data]})?
SYSLOG5424LINE %{SYSLOG5424BASE} +%{GREEDYDATA:syslog5424_msg|message}
`;
