import type { IncomingRecord, Kafka } from './kafka-connection.ts'

/** The topic that takes what this consumer could not process. */
export const deadLetterTopic = (consumer: string): string => `${consumer}.dead-letters`

/** Sends records as they came to the consumer's dead-letter topic, with where they are from and why in their headers. */
export const sendDeadLetters = (
  kafka: Kafka,
  consumer: string,
  records: readonly IncomingRecord[],
  reason: string,
): Promise<void> =>
  kafka.produce(
    records.map(({ topic, partition, offset, key, value, headers }) => ({
      topic: deadLetterTopic(consumer),
      key,
      value,
      headers: {
        ...headers,
        'dead-letter-topic': topic,
        'dead-letter-partition': String(partition),
        'dead-letter-offset': offset,
        'dead-letter-reason': reason,
        'dead-letter-at': new Date().toISOString(),
      },
    })),
  )
