import { withAdmin } from './kafka-admin.ts'

/** Deletes the topics whose names begin with `prefix`. A broker of tests has memory for some thousand partitions. */
export const deleteTopics = (brokers: readonly string[], prefix: string): Promise<void> =>
  withAdmin(brokers, async (admin) => {
    const topics = (await admin.listTopics()).filter((name) => name.startsWith(prefix))
    await admin.deleteTopics({ topics })
  })
