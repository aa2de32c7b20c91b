import java.util.Objects;

/** Prints a line of JSON per check: {"check", "error"?}. */
final class Checks {
  interface Call {
    Object run() throws Exception;
  }

  private Checks() {}

  /** Runs a check; what it throws is its error. */
  static void check(String name, Call call) {
    print(name, failureOf(call));
  }

  /** Passes where the call is refused with an error whose text has `part`. */
  static void refused(String name, String part, Call call) {
    String failure = failureOf(call);
    if (failure == null) print(name, "it isn't refused");
    else print(name, failure.contains(part) ? null : failure);
  }

  static void equal(Object found, Object wanted) {
    if (!Objects.equals(found, wanted)) throw new AssertionError(found + " instead of " + wanted);
  }

  private static String failureOf(Call call) {
    try {
      call.run();
      return null;
    } catch (Throwable error) {
      StringBuilder text = new StringBuilder();
      for (Throwable cause = error; cause != null && text.length() < 1500; cause = cause.getCause()) {
        text.append(cause).append(" < ");
      }
      for (Throwable other : error.getSuppressed()) text.append("suppressed ").append(other).append(" < ");
      return text.toString();
    }
  }

  private static void print(String name, String error) {
    String tail = error == null ? "" : ",\"error\":\"" + escaped(error) + '"';
    System.out.println("{\"check\":\"" + name + '"' + tail + '}');
  }

  private static String escaped(String text) {
    StringBuilder json = new StringBuilder();
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') json.append('\\').append(c);
      else if (c < ' ') json.append(' ');
      else json.append(c);
    }
    return json.toString();
  }
}
