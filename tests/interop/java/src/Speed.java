import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;

/**
 * What one Java producer and one Java consumer process do, measured like ours.
 *
 * <p>Arguments: name server, topic to send to, topic to consume, messages in it, messages to send,
 * bytes of a body. Each line printed is a JSON object: name, messages, seconds, cpu seconds of the
 * process. Every measurement is made twice; the first one warms up and is not printed.
 */
public final class Speed {
  private static final int BATCH = 32;
  private static final int UNDER_WAY = 1024;

  private static String nameServer;

  public static void main(String[] args) throws Exception {
    nameServer = args[0];
    byte[] body = new byte[Integer.parseInt(args[5])];
    int count = Integer.parseInt(args[4]);
    DefaultMQProducer producer = new DefaultMQProducer("speed");
    producer.setNamesrvAddr(nameServer);
    // A busy machine is no failure here.
    producer.setSendMsgTimeout(20_000);
    producer.setMqClientApiTimeout(20_000);
    producer.start();
    String topic = args[1];
    int few = Math.max(count / 50, 1);
    int some = Math.max(count / 4, 1);
    for (boolean warm : new boolean[] {false, true}) {
      measure("send, one after another", few, warm, () -> oneByOne(producer, topic, body, few));
      measure("send, asynchronous", some, warm, () -> asynchronous(producer, topic, body, some));
      int batches = count / BATCH;
      measure(
          "send, batches of 32",
          batches * BATCH,
          warm,
          () -> inBatches(producer, topic, body, batches));
    }
    producer.shutdown();
    int total = Integer.parseInt(args[3]);
    for (boolean warm : new boolean[] {false, true}) {
      measure("consume", total, warm, () -> consume(args[2], "speed-java-" + warm, total));
    }
    Runtime.getRuntime().halt(0);
  }

  private interface Work {
    void run() throws Exception;
  }

  private static void measure(String name, int messages, boolean warm, Work work)
      throws Exception {
    long began = System.nanoTime();
    long cpuBegan = cpuNanos();
    work.run();
    double seconds = (System.nanoTime() - began) / 1e9;
    double cpuSeconds = (cpuNanos() - cpuBegan) / 1e9;
    if (warm) {
      System.out.printf(
          Locale.ROOT,
          "{\"event\":\"measured\",\"name\":\"%s\",\"messages\":%d,\"seconds\":%f,"
              + "\"cpu_seconds\":%f}%n",
          name, messages, seconds, cpuSeconds);
      System.out.flush();
    }
  }

  private static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean)
            ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  private static void oneByOne(DefaultMQProducer producer, String topic, byte[] body, int count)
      throws Exception {
    for (int i = 0; i < count; i++) {
      producer.send(new Message(topic, body));
    }
  }

  private static void asynchronous(
      DefaultMQProducer producer, String topic, byte[] body, int count) throws Exception {
    Semaphore room = new Semaphore(UNDER_WAY);
    AtomicLong failed = new AtomicLong();
    SendCallback callback =
        new SendCallback() {
          @Override
          public void onSuccess(SendResult result) {
            room.release();
          }

          @Override
          public void onException(Throwable problem) {
            failed.incrementAndGet();
            room.release();
          }
        };
    for (int i = 0; i < count; i++) {
      room.acquire();
      producer.send(new Message(topic, body), callback);
    }
    room.acquire(UNDER_WAY);
    if (failed.get() > 0) {
      System.err.println(failed.get() + " of " + count + " asynchronous sends failed");
    }
  }

  private static void inBatches(DefaultMQProducer producer, String topic, byte[] body, int batches)
      throws Exception {
    for (int i = 0; i < batches; i++) {
      List<Message> batch = new ArrayList<>(BATCH);
      for (int j = 0; j < BATCH; j++) {
        batch.add(new Message(topic, body));
      }
      producer.send(batch);
    }
  }

  private static void consume(String topic, String group, int total) throws Exception {
    DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
    consumer.setNamesrvAddr(nameServer);
    consumer.setMqClientApiTimeout(20_000);
    consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
    consumer.subscribe(topic, "*");
    AtomicLong left = new AtomicLong(total);
    CountDownLatch done = new CountDownLatch(1);
    consumer.registerMessageListener(
        (MessageListenerConcurrently)
            (messages, context) -> {
              if (left.addAndGet(-messages.size()) <= 0) {
                done.countDown();
              }
              return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
    consumer.start();
    done.await();
    consumer.shutdown();
  }
}
