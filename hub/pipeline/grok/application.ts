/** Patterns of databases, runtimes and other applications. */

export const applicationPatterns = String.raw`
# Java
JAVACLASS (?:[a-zA-Z$_][a-zA-Z$_0-9]*\.)*[a-zA-Z$_][a-zA-Z$_0-9]*
JAVAFILE [a-zA-Z$_0-9. -]+
JAVAMETHOD (?:<(?:cl)?init>|[a-zA-Z$_][a-zA-Z$_0-9]*)
JAVASTACKTRACEPART %{SPACE}at %{JAVACLASS:class|[java][log][origin][class][name]}\.%{JAVAMETHOD:method|[log][origin][function]}\(%{JAVAFILE:file|[log][origin][file][name]}(?::%{INT:line|[log][origin][file][line]:int})?\)
JAVATHREAD (?:[A-Z]{2}-Processor[\d]+)
JAVALOGMESSAGE (?:.*)
CATALINA7_DATESTAMP %{MONTH} %{MONTHDAY}, %{YEAR} %{HOUR}:%{MINUTE}:%{SECOND} (?:AM|PM)
CATALINA8_DATESTAMP %{MONTHDAY}-%{MONTH}-%{YEAR} %{HOUR}:%{MINUTE}:%{SECOND}
legacy CATALINA_DATESTAMP %{MONTH} %{MONTHDAY}, 20%{YEAR} %{HOUR}:?%{MINUTE}(?::?%{SECOND}) (?:AM|PM)
ecs CATALINA_DATESTAMP (?:%{CATALINA8_DATESTAMP}|%{CATALINA7_DATESTAMP})
TOMCATLEGACY_DATESTAMP %{YEAR}-%{MONTHNUM}-%{MONTHDAY} %{HOUR}:%{MINUTE}:%{SECOND}(?: %{ISO8601_TIMEZONE})?
legacy TOMCAT_DATESTAMP 20%{YEAR}-%{MONTHNUM}-%{MONTHDAY} %{HOUR}:?%{MINUTE}(?::?%{SECOND}) %{ISO8601_TIMEZONE}
ecs TOMCAT_DATESTAMP (?:%{CATALINA8_DATESTAMP}|%{CATALINA7_DATESTAMP}|%{TOMCATLEGACY_DATESTAMP})
CATALINA7_LOG %{CATALINA7_DATESTAMP:timestamp} %{JAVACLASS:class|[java][log][origin][class][name]}(?: %{JAVAMETHOD:method|[log][origin][function]})?\s*(?:%{LOGLEVEL:level|[log][level]}:)? %{JAVALOGMESSAGE:message}
CATALINA8_LOG %{CATALINA8_DATESTAMP:timestamp} %{LOGLEVEL:level|[log][level]} \[%{DATA:thread|[java][log][origin][thread][name]}\] %{JAVACLASS:class|[java][log][origin][class][name]}\.(?:%{JAVAMETHOD:method|[log][origin][function]})? %{JAVALOGMESSAGE:message}
legacy CATALINALOG %{CATALINA_DATESTAMP:timestamp} %{JAVACLASS:class} %{JAVALOGMESSAGE:logmessage}
ecs CATALINALOG (?:%{CATALINA8_LOG})|(?:%{CATALINA7_LOG})
legacy TOMCATLOG %{TOMCAT_DATESTAMP:timestamp} \| %{LOGLEVEL:level} \| %{JAVACLASS:class} - %{JAVALOGMESSAGE:logmessage}
ecs TOMCATLOG (?:%{CATALINA8_LOG})|(?:%{CATALINA7_LOG})|(?:%{TOMCATLEGACY_DATESTAMP:timestamp} \| %{LOGLEVEL:[log][level]} \| %{JAVACLASS:[java][log][origin][class][name]} - %{JAVALOGMESSAGE:message})

# Ruby's logger
RUBY_LOGLEVEL (?:DEBUG|FATAL|ERROR|WARN|INFO)
RUBY_LOGGER [DFEWI], \[%{TIMESTAMP_ISO8601:timestamp} #%{POSINT:pid|[process][pid]:int}\] *%{RUBY_LOGLEVEL:loglevel|[log][level]} -- +%{DATA:progname|[process][name]}: %{GREEDYDATA:message}

# Maven
MAVEN_VERSION (?:\d+\.)?(?:\d+\.)?(?:\*|\d+)(?:[.-](?:RELEASE|SNAPSHOT))?

# Redis
REDISTIMESTAMP %{MONTHDAY} %{MONTH} %{TIME}
REDISLOG \[%{POSINT:pid|[process][pid]:int}\] %{REDISTIMESTAMP:timestamp} \*
REDISMONLOG %{NUMBER:timestamp} \[%{INT:database|[redis][database][id]} %{IP:client|[client][ip]}:%{POSINT:port|[client][port]:int}\] "%{WORD:command|[redis][command][name]}"\s?%{GREEDYDATA:params|[redis][command][args]}

# MongoDB
MONGO_LOG %{SYSLOGTIMESTAMP:timestamp} \[%{WORD:component|[mongodb][component]}\] %{GREEDYDATA:message}
MONGO_QUERY \{ (?<={ ).*(?= } ntoreturn:) \}
legacy MONGO_SLOWQUERY %{WORD} %{MONGO_WORDDASH:database}\.%{MONGO_WORDDASH:collection} %{WORD}: %{MONGO_QUERY:query} %{WORD}:%{NONNEGINT:ntoreturn} %{WORD}:%{NONNEGINT:ntoskip} %{WORD}:%{NONNEGINT:nscanned}.*nreturned:%{NONNEGINT:nreturned}.+ %{INT:duration}ms
ecs MONGO_SLOWQUERY %{WORD:[mongodb][profile][op]} %{MONGO_WORDDASH:[mongodb][database]}\.%{MONGO_WORDDASH:[mongodb][collection]} %{WORD}: %{MONGO_QUERY:[mongodb][query][original]} ntoreturn:%{NONNEGINT:[mongodb][profile][ntoreturn]:int} ntoskip:%{NONNEGINT:[mongodb][profile][ntoskip]:int} nscanned:%{NONNEGINT:[mongodb][profile][nscanned]:int}.*nreturned:%{NONNEGINT:[mongodb][profile][nreturned]:int}.+ %{INT:[mongodb][profile][duration]:int}ms
MONGO_WORDDASH \b[\w-]+\b
MONGO3_SEVERITY \w
legacy MONGO3_COMPONENT %{WORD}|-
ecs MONGO3_COMPONENT %{WORD}
legacy MONGO3_LOG %{TIMESTAMP_ISO8601:timestamp} %{MONGO3_SEVERITY:severity} (?:%{MONGO3_COMPONENT:component}%{SPACE})?(?:\[%{DATA:context}\] )?%{GREEDYDATA:message}
ecs MONGO3_LOG %{TIMESTAMP_ISO8601:timestamp} %{MONGO3_SEVERITY:[log][level]} (?:-|%{MONGO3_COMPONENT:[mongodb][component]})%{SPACE}(?:\[%{DATA:[mongodb][context]}\] )?%{GREEDYDATA:message}

# PostgreSQL
legacy POSTGRESQL %{DATESTAMP:timestamp} %{TZ} %{DATA:user_id} %{GREEDYDATA:connection_id} %{POSINT:pid}
ecs POSTGRESQL %{DATESTAMP:timestamp} %{TZ:[event][timezone]} (?:%{DATA:[user][name]}|-) (?:%{GREEDYDATA:[postgresql][log][connection_id]}|-) %{POSINT:[process][pid]:int}

# Ruby on Rails 3
RUUID \h{32}
legacy RCONTROLLER (?<controller>[^#]+)#(?<action>\w+)
ecs RCONTROLLER (?<[rails][controller][class]>[^#]+)#(?<[rails][controller][action]>\w+)
RAILS_TIMESTAMP %{YEAR}-%{MONTHNUM}-%{MONTHDAY} %{HOUR}:%{MINUTE}:%{SECOND} %{ISO8601_TIMEZONE}
RAILS3HEAD (?m)Started %{WORD:verb|[http][request][method]} "%{URIPATHPARAM:request|[url][original]}" for %{IPORHOST:clientip|[source][address]} at %{RAILS_TIMESTAMP:timestamp}
RPROCESSING \W*Processing by %{RCONTROLLER} as (?<format|[rails][request][format]>\S+)(?:\W*Parameters: \{%{DATA:params|[rails][request][params]}\}\W*)?
RAILS3FOOT Completed %{POSINT:response|[http][response][status_code]:int}%{DATA} in %{NUMBER:totalms|[rails][request][duration][total]:float}ms %{RAILS3PROFILE}%{GREEDYDATA}
RAILS3PROFILE (?:\(Views: %{NUMBER:viewms|[rails][request][duration][view]:float}ms \| ActiveRecord: %{NUMBER:activerecordms|[rails][request][duration][active_record]:float}ms|\(ActiveRecord: %{NUMBER:activerecordms|[rails][request][duration][active_record]:float}ms)?
RAILS3 %{RAILS3HEAD}(?:%{RPROCESSING})?(?<context|[rails][request][explain][original]>(?:%{DATA}\n)*)(?:%{RAILS3FOOT})?
`;

export const httpdPatterns = String.raw`
HTTPDUSER %{EMAILADDRESS}|%{USER}
HTTPDERROR_DATE %{DAY} %{MONTH} %{MONTHDAY} %{TIME} %{YEAR}
legacy HTTPD_COMMONLOG %{IPORHOST:clientip} %{HTTPDUSER:ident} %{HTTPDUSER:auth} \[%{HTTPDATE:timestamp}\] "(?:%{WORD:verb} %{NOTSPACE:request}(?: HTTP/%{NUMBER:httpversion})?|%{DATA:rawrequest})" (?:-|%{NUMBER:response}) (?:-|%{NUMBER:bytes})
legacy HTTPD_COMBINEDLOG %{HTTPD_COMMONLOG} %{QS:referrer} %{QS:agent}
ecs HTTPD_COMMONLOG %{IPORHOST:clientip|[source][address]} (?:-|%{HTTPDUSER:ident|[apache][access][user][identity]}) (?:-|%{HTTPDUSER:auth|[user][name]}) \[%{HTTPDATE:timestamp}\] "(?:%{WORD:verb|[http][request][method]} %{NOTSPACE:request|[url][original]}(?: HTTP/%{NUMBER:httpversion|[http][version]})?|%{DATA:rawrequest})" (?:-|%{INT:response|[http][response][status_code]:int}) (?:-|%{INT:bytes|[http][response][body][bytes]:int})
ecs HTTPD_COMBINEDLOG %{HTTPD_COMMONLOG} "(?:-|%{DATA:referrer|[http][request][referrer]})" "(?:-|%{DATA:agent|[user_agent][original]})"
HTTPD20_ERRORLOG \[%{HTTPDERROR_DATE:timestamp}\] \[%{LOGLEVEL:loglevel|[log][level]}\] (?:\[client %{IPORHOST:clientip|[source][address]}\] )?%{GREEDYDATA:message}
HTTPD24_ERRORLOG \[%{HTTPDERROR_DATE:timestamp}\] \[(?:%{WORD:module|[apache][error][module]})?:%{LOGLEVEL:loglevel|[log][level]}\] \[pid %{POSINT:pid|[process][pid]:int}(?::tid %{INT:tid|[process][thread][id]:int})?\](?: \(%{POSINT:proxy_errorcode|[apache][error][proxy][error][code]}\)%{DATA:proxy_message|[apache][error][proxy][error][message]}:)?(?: \[client %{IPORHOST:clientip|[source][address]}(?::%{POSINT:clientport|[source][port]:int})?\])?(?: %{DATA:errorcode|[error][code]}:)? %{GREEDYDATA:message}
HTTPD_ERRORLOG %{HTTPD20_ERRORLOG}|%{HTTPD24_ERRORLOG}
COMMONAPACHELOG %{HTTPD_COMMONLOG}
COMBINEDAPACHELOG %{HTTPD_COMBINEDLOG}
`;

const LOG_KINDS = [
  "NEW_VOLUME NEW_LABEL WROTE_LABEL NEW_MOUNT NOOPEN NOOPENDIR NOSTAT ALL_RECORDS_PRUNED PRUNED_JOBS PRUNED_FILES",
  "BEGIN_PRUNE_JOBS BEGIN_PRUNE_FILES ENDPRUNE STARTJOB STARTRESTORE USEDEVICE DIFF_FS JOBEND NOPRUNE_JOBS NOPRUNE_FILES",
  "VOLUME_PREVWRITTEN READYAPPEND CANCELLING MARKCANCEL CLIENT_RBJ VSS MAXSTART DUPLICATE NOJOBS NOJOBSTAT FATAL_CONN",
  "NO_CONNECT NO_AUTH END_VOLUME MAX_CAPACITY",
].join(" ");

const baculaPatterns = String.raw`
BACULA_TIMESTAMP %{MONTHDAY}-%{MONTH}(?:-%{YEAR})? %{HOUR}:%{MINUTE}
BACULA_HOST %{HOSTNAME}
BACULA_VOLUME %{USER}
BACULA_DEVICE %{USER}
BACULA_DEVICEPATH %{UNIXPATH}
BACULA_CAPACITY %{INT}{1,3}(?:,%{INT}{3})*
BACULA_VERSION %{USER}
BACULA_JOB %{USER}
BACULA_VOLUME_NAME %{BACULA_VOLUME:volume|[bacula][volume][name]}
legacy BACULA_ON_DEVICE on device "%{BACULA_DEVICE:device}" \(%{BACULA_DEVICEPATH}\)
ecs BACULA_ON_DEVICE on device "%{BACULA_DEVICE:[bacula][volume][device]}" \(%{BACULA_DEVICEPATH:[bacula][volume][path]}\)

BACULA_LOG_MAX_CAPACITY User defined maximum volume capacity %{BACULA_CAPACITY:|[bacula][volume][max_capacity]} exceeded %{BACULA_ON_DEVICE}\.?
BACULA_LOG_END_VOLUME End of medium on Volume "%{BACULA_VOLUME_NAME}" Bytes=%{BACULA_CAPACITY:|[bacula][volume][bytes]} Blocks=%{BACULA_CAPACITY:|[bacula][volume][blocks]} at %{BACULA_TIMESTAMP:|[bacula][timestamp]}\.?
BACULA_LOG_NEW_VOLUME Created new Volume "%{BACULA_VOLUME_NAME}" in catalog\.?
BACULA_LOG_NEW_LABEL Labeled new Volume "%{BACULA_VOLUME_NAME}" %{BACULA_ON_DEVICE}\.?
BACULA_LOG_WROTE_LABEL Wrote label to prelabeled Volume "%{BACULA_VOLUME_NAME}" on device "%{BACULA_DEVICE:|[bacula][volume][device]}" \(%{BACULA_DEVICEPATH:|[bacula][volume][path]}\)
BACULA_LOG_NEW_MOUNT New volume "%{BACULA_VOLUME_NAME}" mounted %{BACULA_ON_DEVICE} at %{BACULA_TIMESTAMP:|[bacula][timestamp]}\.?
BACULA_LOG_NOOPEN \s*Cannot open %{DATA:|[file][path]}: ERR=%{GREEDYDATA:berror|[error][message]}
BACULA_LOG_NOOPENDIR \s*Could not open directory "?%{DATA:|[file][path]}"?: ERR=%{GREEDYDATA:berror|[error][message]}
BACULA_LOG_NOSTAT \s*Could not stat %{DATA:|[file][path]}: ERR=%{GREEDYDATA:berror|[error][message]}
BACULA_LOG_NOJOBS There are no more Jobs associated with Volume "%{BACULA_VOLUME_NAME}"\. Marking it purged\.?
BACULA_LOG_ALL_RECORDS_PRUNED All records pruned from Volume "%{BACULA_VOLUME_NAME}"; marking it "Purged"
BACULA_LOG_BEGIN_PRUNE_JOBS Begin pruning Jobs older than %{INT} month %{INT} days \.
BACULA_LOG_BEGIN_PRUNE_FILES Begin pruning Files\.
BACULA_LOG_PRUNED_JOBS Pruned %{INT} Jobs* for client %{BACULA_HOST:client|[bacula][client][name]} from catalog\.
BACULA_LOG_PRUNED_FILES Pruned Files from %{INT} Jobs* for client %{BACULA_HOST:client|[bacula][client][name]} from catalog\.
BACULA_LOG_ENDPRUNE End auto prune\.
BACULA_LOG_STARTJOB Start Backup JobId %{INT}, Job=%{BACULA_JOB:job|[bacula][job][name]}
BACULA_LOG_STARTRESTORE Start Restore Job %{BACULA_JOB:job|[bacula][job][name]}
BACULA_LOG_USEDEVICE Using Device "%{BACULA_DEVICE:device|[bacula][volume][device]}"
BACULA_LOG_DIFF_FS \s*%{UNIXPATH} is a different filesystem\. Will not descend from %{UNIXPATH} into it\.
BACULA_LOG_JOBEND Job write elapsed time = %{DATA:elapsed|[bacula][job][elapsed_time]}, Transfer rate = %{NUMBER} (?:K|M|G)? ?Bytes/second
BACULA_LOG_NOPRUNE_JOBS No Jobs found to prune\.
BACULA_LOG_NOPRUNE_FILES No Files found to prune\.
BACULA_LOG_VOLUME_PREVWRITTEN Volume "?%{BACULA_VOLUME_NAME}"? previously written, moving to end of data\.
BACULA_LOG_READYAPPEND Ready to append to end of Volume "%{BACULA_VOLUME_NAME}" size=%{INT:|[bacula][volume][size]:int}
BACULA_LOG_CANCELLING Cancelling duplicate JobId=%{INT:|[bacula][job][other_id]}\.
BACULA_LOG_MARKCANCEL JobId %{INT:|[bacula][job][id]}, Job %{BACULA_JOB:job|[bacula][job][name]} marked to be canceled\.
BACULA_LOG_CLIENT_RBJ shell command: run ClientRunBeforeJob "%{GREEDYDATA:runjob|[bacula][job][client_run_before_command]}"
BACULA_LOG_VSS (?:Generate )?VSS (?:Writer)?
BACULA_LOG_MAXSTART Fatal [eE]rror: Job canceled because max start delay time exceeded\.
BACULA_LOG_DUPLICATE Fatal [eE]rror: JobId %{INT:duplicate|[bacula][job][other_id]} already running\. Duplicate job not allowed\.
BACULA_LOG_NOJOBSTAT Fatal [eE]rror: No Job status returned from FD\.
BACULA_LOG_FATAL_CONN Fatal [eE]rror: bsock\.c:133 Unable to connect to (?:Client: %{BACULA_HOST:client|[bacula][client][name]}|Storage daemon) on %{IPORHOST:|[client][address]}:%{POSINT:|[client][port]:int}\. ERR=%{GREEDYDATA:berror|[error][message]}
BACULA_LOG_NO_CONNECT Warning: bsock\.c:127 Could not connect to (?:Client: %{BACULA_HOST:client|[bacula][client][name]}|Storage daemon) on %{IPORHOST:|[client][address]}:%{POSINT:|[client][port]:int}\. ERR=%{GREEDYDATA:berror|[error][message]}
BACULA_LOG_NO_AUTH Fatal [eE]rror: Unable to authenticate with File daemon at "?%{IPORHOST:|[client][address]}(?::%{POSINT:|[client][port]})?"?\. Possible causes:
BACULA_LOG_NOSUIT No prior or suitable Full backup found in catalog\. Doing FULL backup\.?
BACULA_LOG_NOPRIOR No prior Full backup Job record found\.?
BACULA_LOG_JOB (?:Error: )?Bacula %{BACULA_HOST} %{BACULA_VERSION} \(%{BACULA_VERSION}\):
BACULA_LOG (?:${LOG_KINDS.split(" ")
  .map((kind) => `%{BACULA_LOG_${kind}}`)
  .join("|")})
BACULA_LOGLINE %{BACULA_TIMESTAMP:bts|timestamp} %{BACULA_HOST:hostname|[host][hostname]}(?: JobId %{INT:jobid|[bacula][job][id]}:|:?) %{BACULA_LOG}
`;

const eximPatterns = String.raw`
EXIM_MSGID [0-9A-Za-z]{6}-[0-9A-Za-z]{6}-[0-9A-Za-z]{2}
EXIM_FLAGS (?:<=|=>|->|\*>|\*\*|==|<>|>>)
legacy EXIM_DATE %{YEAR:exim_year}-%{MONTHNUM:exim_month}-%{MONTHDAY:exim_day} %{TIME:exim_time}
ecs EXIM_DATE (?:%{YEAR}-%{MONTHNUM}-%{MONTHDAY} %{TIME})
EXIM_PID \[%{POSINT:pid|[process][pid]:int}\]
EXIM_QT (?:(?:\d+y)?(?:\d+w)?(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?)
EXIM_EXCLUDE_TERMS (?:Message is frozen|(?:Start|End) queue run| Warning: | retry time not reached | no (?:IP address|host name) found for (?:IP address|host) | unexpected disconnection while reading SMTP command | no immediate delivery: |another process is handling this message)
EXIM_REMOTE_HOST H=(?:%{NOTSPACE:remote_hostname|[source][address]} )?(?:\(%{NOTSPACE:remote_heloname|[exim][log][remote_address]}\) )?\[%{IP:remote_host|[source][ip]}\](?::%{POSINT:remote_port|[source][port]:int})?
EXIM_INTERFACE I=\[%{IP:exim_interface|[destination][ip]}\](?::%{NUMBER:exim_interface_port|[destination][port]:int})?
EXIM_PROTOCOL P=%{NOTSPACE:protocol|[network][protocol]}
EXIM_MSG_SIZE S=%{NUMBER:exim_msg_size|[exim][log][message][size]:int}
EXIM_HEADER_ID id=%{NOTSPACE:exim_header_id|[exim][log][header_id]}
EXIM_QUOTED_CONTENT (?:\\.|[^\\"])*
legacy EXIM_SUBJECT T=%{QS:exim_subject}
ecs EXIM_SUBJECT T="%{EXIM_QUOTED_CONTENT:[exim][log][message][subject]}"
EXIM_UNKNOWN_FIELD (?:[A-Za-z0-9]{1,4}=(?:%{QUOTEDSTRING}|%{NOTSPACE}))
EXIM_NAMED_FIELDS (?: (?:%{EXIM_REMOTE_HOST}|%{EXIM_INTERFACE}|%{EXIM_PROTOCOL}|%{EXIM_MSG_SIZE}|%{EXIM_HEADER_ID}|%{EXIM_SUBJECT}|%{EXIM_UNKNOWN_FIELD}))*
legacy EXIM_FOR (?: for %{EMAILADDRESS:exim_recipient_email})?
ecs EXIM_FOR (?:(?: from <?%{DATA:[exim][log][sender][original]}>?)? for %{EMAILADDRESS:[exim][log][recipient][email]})?
EXIM_MESSAGE_ARRIVAL %{EXIM_DATE:timestamp} (?:%{EXIM_PID} )?%{EXIM_MSGID:exim_msgid|[exim][log][message][id]} (?<exim_flags|[exim][log][flags]><=) (?:%{EMAILADDRESS:exim_sender_email|[exim][log][sender][email]}|%{NOTSPACE})%{EXIM_NAMED_FIELDS}%{EXIM_FOR}
EXIM %{EXIM_MESSAGE_ARRIVAL}
`;

export const backupMailPatterns = baculaPatterns + eximPatterns;
