import { ConfigurationError } from '@backoffice/runtime/configuration-error.ts'
import { tlsRefusal } from '@backoffice/runtime/tls-refusal.ts'
import type { KafkaServers } from './kafka-settings.ts'

/** A refusal by Kafka or TLS, as a ConfigurationError that names the setting to change; undefined for other errors. */
export function refusedByKafka(error: unknown, { tls }: KafkaServers): ConfigurationError | undefined {
  const refused = (problem: string) => new ConfigurationError(problem, { cause: error })
  const refusal = tlsRefusal(error)
  if (refusal !== undefined)
    return refused(`${tls?.ca === undefined ? 'KAFKA_TLS' : 'KAFKA_CA'}: no TLS connection to Kafka: ${refusal}`)
  if (!(error instanceof Error)) return undefined
  if ('type' in error && error.type === 'UNSUPPORTED_SASL_MECHANISM')
    return refused('KAFKA_SASL_MECHANISM: Kafka does not take logins of this kind')
  if (error.name !== 'KafkaJSSASLAuthenticationError') return undefined
  return refused('KAFKA_SASL_PASSWORD: Kafka refuses the user or the password')
}

/** What may be missing when brokers close connections, as they do to clients without TLS or login (OP-175). */
export function hintOf({ tls, sasl }: KafkaServers): string {
  const missing = [tls ? '' : 'KAFKA_TLS', sasl ? '' : 'KAFKA_SASL_MECHANISM'].filter((name) => name !== '')
  return missing.length === 0 ? '' : `; if it demands TLS or a login, set ${missing.join(' and ')}`
}
