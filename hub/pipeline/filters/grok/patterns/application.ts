/** Patterns of databases, runtimes and other applications. */

export const applicationPatterns = String.raw`
JAVACLASS (?:[a-zA-Z$_][a-zA-Z$_0-9]*\.)*[a-zA-Z$_][a-zA-Z$_0-9]*
JAVAFILE (?:[a-zA-Z$_0-9. -]+)
JAVAMETHOD (?:<(?:cl)?init>|[a-zA-Z$_][a-zA-Z$_0-9]*)
REDISTIMESTAMP %{MONTHDAY} %{MONTH} %{TIME}
MAVEN_VERSION (?:(?:\d+)\.)?(?:(?:\d+)\.)?(?:\*|\d+)(?:[.-](?:RELEASE|SNAPSHOT))?
`;
