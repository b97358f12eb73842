import { parseArgs } from 'node:util'
import { topics } from '@backoffice/contracts/topics.ts'
import { createTopics } from '@backoffice/messaging/kafka/create-topics.ts'
import { kafkaServers } from '@backoffice/messaging/kafka/kafka-settings.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { TopicsConfig } from './config.ts'
import { runJob } from './run-job.ts'

/**
 * `node infra/jobs/src/topics.ts [--fix]`: creates missing topics, and fails when others differ from what is declared.
 * With `--fix` it changes what differs, as far as that is safe.
 */
async function main(): Promise<object> {
  const { values } = parseArgs({ options: { fix: { type: 'boolean', default: false } } })
  const config = readConfig(TopicsConfig)
  const { brokers, ...servers } = kafkaServers(config)
  const { KAFKA_PARTITIONS: partitions, KAFKA_REPLICATION_FACTOR: replicationFactor } = config
  return createTopics(brokers, topics(partitions), { ...servers, replicationFactor, fix: values.fix })
}

await runJob('topics', main)
