import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMachineRoomNearby;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByConfig;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByMachineRoom;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.consumer.ProcessQueue;
import org.apache.rocketmq.client.impl.consumer.RebalanceImpl;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.RPCHook;

/**
 * Java clients under remote control: any number of push consumers and producers in one JVM.
 *
 * <p>Reads one command a line from standard input, "verb name=value name=value ...", and prints one
 * JSON object a line: what happened, and every change of a consumer's queues as its process queue
 * table shows it. Every command is answered by a line with the verb in the past, or "error".
 */
public final class Driver {
  private static final long POLL_MILLIS = 20;

  private static String nameServer;
  private static final Map<String, DefaultMQPushConsumer> consumers = new ConcurrentHashMap<>();
  private static final Map<String, DefaultMQProducer> producers = new ConcurrentHashMap<>();
  private static final Map<String, List<String>> lastQueues = new ConcurrentHashMap<>();
  private static final Map<String, Gate> gates = new ConcurrentHashMap<>();
  private static final Set<String> quiet = ConcurrentHashMap.newKeySet();

  public static void main(String[] args) throws Exception {
    nameServer = args[0];
    Thread watcher = new Thread(Driver::watch, "watch-queues");
    watcher.setDaemon(true);
    watcher.start();
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    say("ready");
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      obey(line.trim());
    }
    Runtime.getRuntime().halt(0);
  }

  private static void obey(String line) {
    try {
      String[] words = line.split(" +");
      Map<String, String> options = new TreeMap<>();
      for (int i = 1; i < words.length; i++) {
        int equals = words[i].indexOf('=');
        options.put(words[i].substring(0, equals), words[i].substring(equals + 1));
      }
      if (options.remove("background") == null) {
        run(words[0], options);
        return;
      }
      new Thread(() -> {
        try {
          run(words[0], options);
        } catch (Throwable problem) {
          say("error", "command", line, "message", String.valueOf(problem));
        }
      }).start();
    } catch (Throwable problem) {
      say("error", "command", line, "message", String.valueOf(problem));
    }
  }

  private static void run(String verb, Map<String, String> options) throws Exception {
    switch (verb) {
      case "start": start(options); break;
      case "pull":
        String id = PullConsumers.start(nameServer, options);
        say("pulling", "name", options.get("name"), "client_id", id);
        break;
      case "stop": stop(options); break;
      case "hold": gate(options).hold(); say("held", "name", options.get("name")); break;
      case "release": gate(options).release(); say("released", "name", options.get("name")); break;
      case "produce": produce(options); break;
      default: throw new IllegalArgumentException("unknown verb " + verb);
    }
  }

  // Consumers

  private static void start(Map<String, String> options) throws Exception {
    String name = options.get("name");
    // The one constructor with a hook that every release has.
    DefaultMQPushConsumer consumer =
        new DefaultMQPushConsumer(options.get("group"), signing(options), strategy(options));
    consumer.setNamesrvAddr(options.getOrDefault("nameserver", nameServer));
    consumer.setUseTLS(options.containsKey("tls"));
    // A busy machine is no failure here.
    consumer.setMqClientApiTimeout(20_000);
    consumer.setInstanceName(options.getOrDefault("instance", name));
    if (options.containsKey("threads")) {
      consumer.setConsumeThreadMin(Integer.parseInt(options.get("threads")));
      consumer.setConsumeThreadMax(Integer.parseInt(options.get("threads")));
    }
    if (options.containsKey("exact")) {
      tellEveryChange(consumer, name);
    }
    if (options.containsKey("pop")) {
      // The broker divides, and hands messages out one by one; clients before 5.0 cannot.
      DefaultMQPushConsumer.class
          .getMethod("setClientRebalance", boolean.class)
          .invoke(consumer, false);
    }
    // The class of the mode's enum moved between releases; its names did not.
    setMode(consumer, options.getOrDefault("mode", "CLUSTERING"));
    consumer.setConsumeFromWhere(
        ConsumeFromWhere.valueOf(options.getOrDefault("from", "CONSUME_FROM_FIRST_OFFSET")));
    consumer.setPersistConsumerOffsetInterval(500);
    for (String topic : options.get("topic").split(",")) {
      consumer.subscribe(topic, options.getOrDefault("tag", "*").replace('+', ' '));
    }
    gates.put(name, new Gate(Long.parseLong(options.getOrDefault("delay_ms", "0"))));
    if (options.containsKey("quiet")) {
      quiet.add(name);
    }
    listen(consumer, name, Boolean.parseBoolean(options.getOrDefault("orderly", "false")));
    consumer.start();
    consumers.put(name, consumer);
    say("started", "name", name, "client_id", clientId(consumer));
  }

  private static void stop(Map<String, String> options) {
    String name = options.get("name");
    if (PullConsumers.stop(name)) {
      say("stopped", "name", name);
      return;
    }
    DefaultMQPushConsumer consumer = consumers.remove(name);
    gate(options).release();
    String clientId = clientId(consumer);
    consumer.shutdown();
    lastQueues.remove(name);
    say("stopped", "name", name, "client_id", clientId);
  }

  private static void setMode(DefaultMQPushConsumer consumer, String mode) throws Exception {
    for (java.lang.reflect.Method method : DefaultMQPushConsumer.class.getMethods()) {
      if (method.getName().equals("setMessageModel")) {
        for (Object value : method.getParameterTypes()[0].getEnumConstants()) {
          if (value.toString().equals(mode)) {
            method.invoke(consumer, value);
            return;
          }
        }
      }
    }
    throw new IllegalArgumentException("unknown mode " + mode);
  }

  private static RPCHook signing(Map<String, String> options) {
    return options.containsKey("access_key")
        ? new AclClientRPCHook(
            new SessionCredentials(options.get("access_key"), options.get("secret_key")))
        : null;
  }

  /** Puts a table in the place of the consumer's own that tells each change as it happens. */
  private static void tellEveryChange(DefaultMQPushConsumer consumer, String name)
      throws Exception {
    java.lang.reflect.Field table = RebalanceImpl.class.getDeclaredField("processQueueTable");
    table.setAccessible(true);
    table.set(consumer.getDefaultMQPushConsumerImpl().getRebalanceImpl(), new Told(name));
  }

  private static AllocateMessageQueueStrategy strategy(Map<String, String> options) {
    String name = options.getOrDefault("strategy", "AVG");
    switch (name) {
      case "AVG": return new AllocateMessageQueueAveragely();
      case "AVG_BY_CIRCLE": return new AllocateMessageQueueAveragelyByCircle();
      case "CONSISTENT_HASH": return new AllocateMessageQueueConsistentHash();
      case "CONFIG": return configured(options.get("topic"), options.get("config"));
      case "MACHINE_ROOM":
        AllocateMessageQueueByMachineRoom byRoom = new AllocateMessageQueueByMachineRoom();
        byRoom.setConsumeridcs(
            new java.util.HashSet<>(java.util.Arrays.asList(options.get("rooms").split(","))));
        return byRoom;
      case "MACHINE_ROOM_NEARBY":
        return new AllocateMachineRoomNearby(new AllocateMessageQueueAveragely(), new LastPart());
      case "OWN": return new Backwards();
      default: throw new IllegalArgumentException("unknown strategy " + name);
    }
  }

  /** Queues given as "broker:id,broker:id,...". */
  private static AllocateMessageQueueStrategy configured(String topic, String given) {
    List<MessageQueue> queues = new ArrayList<>();
    for (String queue : given.split(",")) {
      int colon = queue.lastIndexOf(':');
      queues.add(
          new MessageQueue(
              topic, queue.substring(0, colon), Integer.parseInt(queue.substring(colon + 1))));
    }
    AllocateMessageQueueByConfig byConfig = new AllocateMessageQueueByConfig();
    byConfig.setMessageQueueList(queues);
    return byConfig;
  }

  private static void listen(DefaultMQPushConsumer consumer, String name, boolean orderly) {
    if (orderly) {
      consumer.registerMessageListener(
          (MessageListenerOrderly)
              (messages, context) -> {
                report(name, messages);
                return ConsumeOrderlyStatus.SUCCESS;
              });
    } else {
      consumer.registerMessageListener(
          (MessageListenerConcurrently)
              (messages, context) -> {
                report(name, messages);
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
              });
    }
  }

  private static void report(String name, List<MessageExt> messages) {
    gates.get(name).pass();
    if (quiet.contains(name)) {
      return;
    }
    for (MessageExt message : messages) {
      say(
          "message", "name", name, "topic", message.getTopic(), "broker", message.getBrokerName(),
          "queue_id", message.getQueueId(), "offset", message.getQueueOffset(),
          "keys", message.getKeys(), "tags", message.getTags(),
          "body", new String(message.getBody(), StandardCharsets.UTF_8),
          "times", message.getReconsumeTimes());
    }
  }

  // Consumers' queues

  private static void watch() {
    while (true) {
      for (Map.Entry<String, DefaultMQPushConsumer> entry : consumers.entrySet()) {
        List<String> now = queues(entry.getValue());
        if (consumers.containsKey(entry.getKey())
            && !now.equals(lastQueues.put(entry.getKey(), now))) {
          say(
              "allocation", "name", entry.getKey(), "client_id", clientId(entry.getValue()),
              "queues", now, "at", System.currentTimeMillis());
        }
      }
      try {
        Thread.sleep(POLL_MILLIS);
      } catch (InterruptedException stopped) {
        return;
      }
    }
  }

  private static List<String> queues(DefaultMQPushConsumer consumer) {
    List<MessageQueue> owned = new ArrayList<>();
    for (Map.Entry<MessageQueue, ProcessQueue> entry :
        consumer.getDefaultMQPushConsumerImpl().getRebalanceImpl().getProcessQueueTable()
            .entrySet()) {
      if (!entry.getValue().isDropped()) {
        owned.add(entry.getKey());
      }
    }
    Collections.sort(owned);
    List<String> rendered = new ArrayList<>();
    for (MessageQueue queue : owned) {
      rendered.add(
          "[" + json(queue.getTopic()) + "," + json(queue.getBrokerName()) + ","
              + queue.getQueueId() + "]");
    }
    return rendered;
  }

  private static String clientId(DefaultMQPushConsumer consumer) {
    return consumer.getDefaultMQPushConsumerImpl().getmQClientFactory().getClientId();
  }

  // Producers

  private static void produce(Map<String, String> options) throws Exception {
    DefaultMQProducer producer = producer(options);
    String topic = options.get("topic");
    int count = Integer.parseInt(options.get("count"));
    int first = Integer.parseInt(options.getOrDefault("first", "0"));
    boolean orderly = Boolean.parseBoolean(options.getOrDefault("orderly", "false"));
    List<String> offsets = new ArrayList<>();
    for (int i = first; i < first + count; i++) {
      String key = options.getOrDefault("key", "k") + i;
      String body = "m" + i + ".".repeat(Integer.parseInt(options.getOrDefault("pad", "0")));
      Message message =
          new Message(topic, options.get("tag"), key, body.getBytes(StandardCharsets.UTF_8));
      message.setDelayTimeLevel(Integer.parseInt(options.getOrDefault("delay_level", "0")));
      SendResult sent =
          orderly
              ? producer.send(
                  message, (queues, value, number) -> queues.get((int) number % queues.size()), i)
              : producer.send(message);
      offsets.add(
          "[" + json(sent.getMessageQueue().getBrokerName()) + ","
              + sent.getMessageQueue().getQueueId() + "," + sent.getQueueOffset() + "]");
    }
    say("produced", "topic", topic, "count", count, "offsets", offsets);
  }

  /** One for each cluster. */
  private static DefaultMQProducer producer(Map<String, String> options) throws Exception {
    String addresses = options.getOrDefault("nameserver", nameServer);
    String group = "driver-producer-" + addresses.replaceAll("[^0-9]", "-");
    DefaultMQProducer known = producers.get(group);
    if (known != null) {
      return known;
    }
    DefaultMQProducer producer = new DefaultMQProducer(group, signing(options));
    producer.setSendMsgTimeout(20_000);
    producer.setMqClientApiTimeout(20_000);
    producer.setNamesrvAddr(addresses);
    producer.setUseTLS(options.containsKey("tls"));
    producer.setInstanceName(group);
    producer.start();
    connect(producer);
    producers.put(group, producer);
    return producer;
  }

  /**
   * Return once a name server has answered.
   *
   * <p>A send looks for the route of its topic, and if there is none, for that of the topic from
   * which new ones are made; it waits 3 s for its turn to ask, whatever the timeout for an answer.
   * On a busy machine the first connection may take longer: the send then fails, or makes the topic
   * on brokers that should not have it.
   */
  private static void connect(DefaultMQProducer producer) {
    try {
      producer.fetchPublishMessageQueues("TBW102");
    } catch (MQClientException noSuchTopic) {
      // That it is not there is an answer, too.
    }
  }

  // Output

  private static void say(String event, Object... pairs) {
    StringBuilder line = new StringBuilder("{\"event\":").append(json(event));
    for (int i = 0; i < pairs.length; i += 2) {
      line.append(",").append(json(pairs[i])).append(":").append(json(pairs[i + 1]));
    }
    synchronized (System.out) {
      System.out.println(line.append("}"));
      System.out.flush();
    }
  }

  /** Numbers and lists (of rendered items) as they are, everything else as a string. */
  private static String json(Object value) {
    if (value == null) {
      return "null";
    }
    if (value instanceof Number || value instanceof List) {
      return value.toString();
    }
    StringBuilder text = new StringBuilder("\"");
    for (char letter : value.toString().toCharArray()) {
      if (letter == '"' || letter == '\\') {
        text.append('\\').append(letter);
      } else if (letter < ' ' || letter > '~') {
        text.append(String.format("\\u%04x", (int) letter));
      } else {
        text.append(letter);
      }
    }
    return text.append('"').toString();
  }

  private static Gate gate(Map<String, String> options) {
    return gates.get(options.get("name"));
  }

  /** Holds a consumer's listener while closed; slows it down by a given time while open. */
  private static final class Gate {
    private final long delayMillis;
    private final Semaphore open = new Semaphore(Integer.MAX_VALUE / 2);
    private boolean held;

    Gate(long delayMillis) {
      this.delayMillis = delayMillis;
    }

    synchronized void hold() {
      held = true;
      open.drainPermits();
    }

    synchronized void release() {
      if (held) {
        held = false;
        open.release(Integer.MAX_VALUE / 2);
      }
    }

    void pass() {
      open.acquireUninterruptibly();
      open.release();
      if (delayMillis > 0) {
        try {
          Thread.sleep(delayMillis);
        } catch (InterruptedException stopped) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  /** A process queue table that tells when a queue comes and goes, by the monotonic clock. */
  private static final class Told extends ConcurrentHashMap<MessageQueue, ProcessQueue> {
    private final String name;

    Told(String name) {
      this.name = name;
    }

    @Override
    public ProcessQueue put(MessageQueue queue, ProcessQueue held) {
      tell(queue, 1);
      return super.put(queue, held);
    }

    @Override
    public ProcessQueue putIfAbsent(MessageQueue queue, ProcessQueue held) {
      ProcessQueue before = super.putIfAbsent(queue, held);
      if (before == null) {
        tell(queue, 1);
      }
      return before;
    }

    @Override
    public ProcessQueue remove(Object queue) {
      ProcessQueue gone = super.remove(queue);
      if (gone != null) {
        tell((MessageQueue) queue, 0);
      }
      return gone;
    }

    @Override
    public void clear() {
      for (MessageQueue queue : new ArrayList<>(keySet())) {
        remove(queue);
      }
    }

    private void tell(MessageQueue queue, int held) {
      say(
          "change", "name", name, "topic", queue.getTopic(), "broker", queue.getBrokerName(),
          "queue_id", queue.getQueueId(), "held", held, "nanos", System.nanoTime());
    }
  }

  /** The room of a broker and of a client is what follows the last dash of its name. */
  private static final class LastPart implements AllocateMachineRoomNearby.MachineRoomResolver {
    @Override
    public String brokerDeployIn(MessageQueue queue) {
      return lastPart(queue.getBrokerName());
    }

    @Override
    public String consumerDeployIn(String clientId) {
      return lastPart(clientId);
    }

    private static String lastPart(String name) {
      return name.substring(name.lastIndexOf('-') + 1);
    }
  }

  /** A strategy that nobody else knows: everything to the last client. */
  private static final class Backwards implements AllocateMessageQueueStrategy {
    @Override
    public List<MessageQueue> allocate(
        String group, String clientId, List<MessageQueue> queues, List<String> clientIds) {
      boolean last = clientId.equals(clientIds.get(clientIds.size() - 1));
      return last ? new ArrayList<>(queues) : new ArrayList<>();
    }

    @Override
    public String getName() {
      return "BACKWARDS";
    }
  }
}
