import { topics } from '@backoffice/contracts/topics.ts'
import { createTopics } from '@backoffice/messaging/kafka/create-topics.ts'
import { kafkaServers } from '@backoffice/messaging/kafka/kafka-settings.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { TopicsConfig } from './config.ts'
import { runJob } from './run-job.ts'

/** `node infra/jobs/src/topics.ts`: creates missing topics. Existing ones keep their settings and partitions. */
async function main(): Promise<object> {
  const config = readConfig(TopicsConfig)
  const { brokers, ...servers } = kafkaServers(config)
  const created = await createTopics(brokers, topics, {
    ...servers,
    replicationFactor: config.KAFKA_REPLICATION_FACTOR,
  })
  return { created }
}

await runJob('topics', main)
