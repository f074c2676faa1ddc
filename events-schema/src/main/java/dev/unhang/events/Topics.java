package dev.unhang.events;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * Creates the topics that are missing and refuses those that are wrong, by name and setting. Only the healer and the
 * lab call this; a collector asks {@link #exists} and waits, because a producer that sends first would make the broker
 * create the wrong topic.
 */
public final class Topics {

    private static final long DEADLINE_SECONDS = 30;
    private static final int DESCRIBE_TRIES = 100;
    private static final long DESCRIBE_PAUSE_MS = 100;

    private final Admin admin;
    private final String prefix;
    private final boolean createTime;

    /** Topics as production has them: LogAppendTime where the log is the clock. */
    public Topics(Admin admin, String prefix) {
        this(admin, prefix, false);
    }

    private Topics(Admin admin, String prefix, boolean createTime) {
        this.admin = admin;
        this.prefix = prefix;
        this.createTime = createTime;
    }

    /** For the lab only: every topic has CreateTime, so that a day can pass in a minute. */
    public static Topics withCreateTime(Admin admin, String prefix) {
        return new Topics(admin, prefix, true);
    }

    /** The topics on the broker are not what they must be; the message names each fault and its mend. */
    public static final class WrongTopicsException extends Exception {
        private static final long serialVersionUID = 1L;

        WrongTopicsException(List<String> faults) {
            super(String.join("\n", faults));
        }
    }

    /** Creates what is missing, then checks all. */
    public void ensure() throws WrongTopicsException, ExecutionException, TimeoutException, InterruptedException {
        Set<String> present = admin.listTopics().names().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        int brokers = admin.describeCluster()
                .nodes()
                .get(DEADLINE_SECONDS, TimeUnit.SECONDS)
                .size();
        short replication = (short) Math.min(3, brokers);
        List<NewTopic> missing = new ArrayList<>();
        for (Topic topic : Topic.values()) {
            if (!present.contains(topic.name(prefix))) {
                Map<String, String> settings = new TreeMap<>(wanted(topic));
                settings.put("max.message.bytes", Integer.toString(topic.maxRecordBytes()));
                if (replication == 3) {
                    settings.put("min.insync.replicas", "2");
                }
                missing.add(new NewTopic(topic.name(prefix), topic.partitions(), replication).configs(settings));
            }
        }
        if (!missing.isEmpty()) {
            try {
                admin.createTopics(missing).all().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof TopicExistsException)) {
                    throw e;
                }
            }
        }
        for (int left = DESCRIBE_TRIES; ; left--) {
            try {
                check();
                return;
            } catch (ExecutionException e) {
                if (left == 0 || !(e.getCause() instanceof UnknownTopicOrPartitionException)) {
                    throw e;
                }
            }
            // The controller has created it; the broker that we ask has not heard of it yet.
            TimeUnit.MILLISECONDS.sleep(DESCRIBE_PAUSE_MS);
        }
    }

    /** Whether the topic is there; asks the broker and creates nothing. */
    public boolean exists(Topic topic) throws ExecutionException, TimeoutException, InterruptedException {
        return admin.listTopics()
                .names()
                .get(DEADLINE_SECONDS, TimeUnit.SECONDS)
                .contains(topic.name(prefix));
    }

    private void check() throws WrongTopicsException, ExecutionException, TimeoutException, InterruptedException {
        List<String> names = new ArrayList<>();
        List<ConfigResource> resources = new ArrayList<>();
        for (Topic topic : Topic.values()) {
            names.add(topic.name(prefix));
            resources.add(new ConfigResource(ConfigResource.Type.TOPIC, topic.name(prefix)));
        }
        Map<String, TopicDescription> described =
                admin.describeTopics(names).allTopicNames().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        Map<ConfigResource, Config> configs =
                admin.describeConfigs(resources).all().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        List<String> faults = new ArrayList<>();
        for (Topic topic : Topic.values()) {
            String name = topic.name(prefix);
            TopicDescription description = described.get(name);
            Config config = configs.get(new ConfigResource(ConfigResource.Type.TOPIC, name));
            if (description == null || config == null) {
                faults.add("topic " + name + " cannot be described: it was deleted just now; start again");
                continue;
            }
            int partitions = description.partitions().size();
            if (partitions != topic.partitions()) {
                faults.add("topic " + name + " has " + partitions + " partitions and must have " + topic.partitions()
                        + ": the number is fixed for the life of a prefix; delete the topic, or choose another"
                        + " kafka.topic-prefix");
            }
            wanted(topic).forEach((key, value) -> {
                String found = config.get(key).value();
                if (!value.equals(found) && !"retention.ms".equals(key)) {
                    faults.add("topic " + name + " has " + key + "=" + found + " and must have " + key + "=" + value
                            + ": set it with kafka-configs.sh --alter --entity-type topics --entity-name " + name
                            + " --add-config " + key + "=" + value);
                }
            });
        }
        if (!faults.isEmpty()) {
            throw new WrongTopicsException(faults);
        }
    }

    private Map<String, String> wanted(Topic topic) {
        Map<String, String> settings = new TreeMap<>(topic.settings());
        if (createTime) {
            settings.put("message.timestamp.type", "CreateTime");
            settings.put("message.timestamp.after.max.ms", Long.toString(Long.MAX_VALUE));
        }
        return settings;
    }
}
