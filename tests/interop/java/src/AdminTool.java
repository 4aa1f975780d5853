import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.rocketmq.tools.command.MQAdminStartup;

/**
 * Apache's admin tool, many commands in one JVM.
 *
 * <p>Reads one command a line from standard input, its words separated by tabs, runs it as the
 * command line would, and prints one JSON object a line with what it wrote to standard output and
 * standard error.
 */
public final class AdminTool {
  public static void main(String[] args) throws Exception {
    PrintStream output = System.out;
    PrintStream errors = System.err;
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    hasten(Thread.currentThread());
    output.println("{\"event\":\"ready\"}");
    output.flush();
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      ByteArrayOutputStream written = new ByteArrayOutputStream();
      PrintStream catching = new PrintStream(written, true, "UTF-8");
      System.setOut(catching);
      System.setErr(catching);
      try {
        MQAdminStartup.main0(line.split("\t"), null);
      } catch (Throwable problem) {
        problem.printStackTrace(catching);
      } finally {
        System.setOut(output);
        System.setErr(errors);
      }
      catching.flush();
      output.println("{\"event\":\"output\",\"text\":" + quoted(written.toString("UTF-8")) + "}");
      output.flush();
    }
    Runtime.getRuntime().halt(0);
  }

  /** A client's shutdown may wait 3 s for a thread that sleeps on an empty queue: wake it. */
  private static void hasten(Thread commands) {
    Thread waker =
        new Thread(
            () -> {
              while (true) {
                try {
                  Thread.sleep(20);
                } catch (InterruptedException stopped) {
                  return;
                }
                for (StackTraceElement frame : commands.getStackTrace()) {
                  if (frame.getClassName().endsWith(".ServiceThread")
                      && frame.getMethodName().equals("shutdown")) {
                    wake("NettyEventExecutor");
                  }
                }
              }
            });
    waker.setDaemon(true);
    waker.start();
  }

  private static void wake(String name) {
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().equals(name)) {
        thread.interrupt();
      }
    }
  }

  private static String quoted(String text) {
    StringBuilder json = new StringBuilder("\"");
    for (char letter : text.toCharArray()) {
      if (letter == '"' || letter == '\\') {
        json.append('\\').append(letter);
      } else if (letter < ' ' || letter > '~') {
        json.append(String.format("\\u%04x", (int) letter));
      } else {
        json.append(letter);
      }
    }
    return json.append('"').toString();
  }
}
