import { installRequestQueue } from '@backoffice/messaging/kafka/request-queue.ts'
// biome-ignore lint/style/noRestrictedImports: the platform itself deletes no topics, and asks of no copies.
import { type Admin, Kafka, logLevel } from 'kafkajs'

export type { Admin }

installRequestQueue()

/** Asks brokers what the platform never asks of them. */
export async function withAdmin(brokers: readonly string[], work: (admin: Admin) => Promise<void>): Promise<void> {
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  try {
    await work(admin)
  } finally {
    await admin.disconnect()
  }
}
