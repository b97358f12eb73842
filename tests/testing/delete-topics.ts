// biome-ignore lint/style/noRestrictedImports: the platform itself deletes no topics.
import { Kafka, logLevel } from 'kafkajs'

/** Deletes the topics whose names begin with `prefix`. A broker of tests has memory for some thousand partitions. */
export async function deleteTopics(brokers: readonly string[], prefix: string): Promise<void> {
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  try {
    const topics = (await admin.listTopics()).filter((name) => name.startsWith(prefix))
    await admin.deleteTopics({ topics })
  } finally {
    await admin.disconnect()
  }
}
