import { TOPICS } from '@backoffice/contracts/events.ts'
import type { GroupMember, IncomingRecord, Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'

/** Reads the events of catalog in a group of its own, as a service does. */
export function updatesReader(kafka: Kafka) {
  const records: IncomingRecord[] = []
  let member: GroupMember | undefined
  const nameOf = ({ value }: IncomingRecord) => JSON.parse(String(value?.subarray(5))).data.name as string
  const ofProduct = (id: string) => records.filter(({ key }) => key === id)
  return {
    start() {
      member = kafka.consume({
        group: 'updates',
        topics: [TOPICS.catalogEvents],
        concurrency: 3,
        async onBatch(batch) {
          records.push(...batch.records)
          for (const record of batch.records) batch.markProcessed(record)
        },
      })
    },
    stop: () => member?.stop(),
    /** The names that a product had, in the order of its events; a repeated event counts again. */
    namesOf: (id: string) => ofProduct(id).map(nameOf),
    partitionsOf: (id: string) => new Set(ofProduct(id).map(({ partition }) => partition)),
  }
}
