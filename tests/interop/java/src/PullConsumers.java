import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.common.message.MessageQueue;

/** Lite pull consumers under remote control: they subscribe, or are given their queues. */
final class PullConsumers {
  private static final Map<String, DefaultLitePullConsumer> consumers = new ConcurrentHashMap<>();

  private PullConsumers() {}

  /** Starts one that polls until it is stopped; returns its client id. */
  static String start(String nameServer, Map<String, String> options) throws Exception {
    String name = options.get("name");
    String topic = options.get("topic");
    DefaultLitePullConsumer consumer = new DefaultLitePullConsumer(options.get("group"));
    consumer.setNamesrvAddr(nameServer);
    consumer.setInstanceName(name);
    consumer.setMqClientApiTimeout(20_000);
    if (!options.containsKey("assign")) {
      consumer.subscribe(topic, "*");
    }
    consumer.start();
    if (options.containsKey("assign")) {
      List<MessageQueue> queues = new ArrayList<>(consumer.fetchMessageQueues(topic));
      Collections.sort(queues);
      consumer.assign(queues.subList(0, Integer.parseInt(options.get("assign"))));
    }
    consumers.put(name, consumer);
    Thread polling = new Thread(() -> poll(name, consumer), "poll-" + name);
    polling.setDaemon(true);
    polling.start();
    return consumer.buildMQClientId();
  }

  /** Stops the one of that name; false if there is none. */
  static boolean stop(String name) {
    DefaultLitePullConsumer consumer = consumers.remove(name);
    if (consumer == null) {
      return false;
    }
    consumer.shutdown();
    return true;
  }

  private static void poll(String name, DefaultLitePullConsumer consumer) {
    while (consumers.get(name) == consumer) {
      consumer.poll(200);
    }
  }
}
