/** kafkajs wraps some errors of brokers, and some of the code that it calls. */
const rootOf = (error: Error): Error => (error.cause instanceof Error ? rootOf(error.cause) : error)

/** The type of an error that a broker has answered; undefined for other errors. */
export function typeOfKafkaError(error: unknown): string | undefined {
  const root = error instanceof Error ? rootOf(error) : undefined
  return root?.name === 'KafkaJSProtocolError' && 'type' in root ? String(root.type) : undefined
}

export const noAnswerTo = (service: string) => `Kafka does not answer ${service} now; try again`

/** What a service tells of an error of Kafka: that it does not answer, or what it refuses; undefined for others. */
export function problemWithKafka(error: unknown, service: string): string | undefined {
  const root = error instanceof Error ? rootOf(error) : undefined
  if (root === undefined || !root.name.startsWith('KafkaJS')) return undefined
  const isRefusal = 'type' in root || root.name === 'KafkaJSSASLAuthenticationError'
  return isRefusal ? `Kafka refuses a request of ${service}: ${root.message}` : noAnswerTo(service)
}
