import { ConfigurationError } from '@backoffice/runtime/configuration-error.ts'
import { tlsRefusal } from '@backoffice/runtime/tls-refusal.ts'
import type { KafkaServers } from './kafka-settings.ts'

/**
 * Turns a permanent refusal by Kafka or TLS into a ConfigurationError that names the setting to change. Returns undefined for
 * any other error, such as one of brokers that are away.
 */
export function refusedByKafka(error: unknown, servers: KafkaServers): ConfigurationError | undefined {
  const problem = problemOf(error, servers)
  return problem === undefined ? undefined : new ConfigurationError(problem, { cause: error })
}

function problemOf(error: unknown, { tls }: KafkaServers): string | undefined {
  const refusal = tlsRefusal(error)
  if (refusal !== undefined)
    return `${tls?.ca === undefined ? 'KAFKA_TLS' : 'KAFKA_CA'}: no TLS connection to Kafka: ${refusal}`
  if (!(error instanceof Error)) return undefined
  if ('type' in error && error.type === 'UNSUPPORTED_SASL_MECHANISM')
    return 'KAFKA_SASL_MECHANISM: Kafka does not take logins of this kind'
  if (error.name !== 'KafkaJSSASLAuthenticationError') return undefined
  return 'KAFKA_SASL_PASSWORD: Kafka refuses the user or the password'
}

/** What may be missing when brokers close connections: they do so to clients without TLS or login, as if they were away (OP-175). */
export function hintOf({ tls, sasl }: KafkaServers): string {
  const missing = [tls ? '' : 'KAFKA_TLS', sasl ? '' : 'KAFKA_SASL_MECHANISM'].filter((name) => name !== '')
  return missing.length === 0 ? '' : `; if it demands TLS or a login, set ${missing.join(' and ')}`
}
