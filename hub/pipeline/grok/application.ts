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
