import { TOPICS } from '@backoffice/contracts/events.ts'
import type { GroupMember, IncomingRecord, Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'

/** Reads the events of catalog in a group of its own, as a service does. */
export function updatesReader(kafka: Kafka) {
  const seen = new Map<string, { readonly name: string; readonly partition: number }[]>()
  let member: GroupMember | undefined
  const nameOf = ({ value }: IncomingRecord) => JSON.parse(String(value?.subarray(5))).data.name as string
  const ofProduct = (id: string) => seen.get(id) ?? []
  return {
    start() {
      member = kafka.consume({
        group: 'updates',
        topics: [TOPICS.catalogEvents],
        concurrency: 3,
        async onBatch(batch) {
          for (const record of batch.records) {
            const { partition } = record
            seen.set(String(record.key), [...ofProduct(String(record.key)), { name: nameOf(record), partition }])
            batch.markProcessed(record)
          }
        },
      })
    },
    stop: () => member?.stop(),
    /** The names that a product had, in the order of its events; a repeated event counts again. */
    namesOf: (id: string) => ofProduct(id).map(({ name }) => name),
    partitionsOf: (id: string) => new Set(ofProduct(id).map(({ partition }) => partition)),
  }
}
