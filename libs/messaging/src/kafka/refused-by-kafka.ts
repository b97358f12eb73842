import { ConfigurationError } from '@backoffice/runtime/configuration-error.ts'
import { tlsRefusal } from '@backoffice/runtime/tls-refusal.ts'
import type { KafkaServers } from './kafka-settings.ts'

/** The end of kafkajs's message when a login got no answer: it makes every error of one a refusal. */
const NO_ANSWER = / failed: (Closed connection|Connection (closed|error|timeout)|Not connected|Request .* timed out)/

/** Why Kafka was not reached: a ConfigurationError that names the setting when Kafka or TLS refuses for good. */
export function unreached(error: unknown, servers: KafkaServers): Error {
  const refused = (problem: string) => new ConfigurationError(problem, { cause: error })
  const away = (reason: string) => new Error(`${reason}${hintOf(servers)}`, { cause: error })
  const tls = tlsRefusal(error)
  if (tls !== undefined) {
    const problem = `no TLS connection to Kafka: ${tls.reason}`
    return tls.mayEnd
      ? away(problem)
      : refused(`${servers.tls?.ca === undefined ? 'KAFKA_TLS' : 'KAFKA_CA'}: ${problem}`)
  }
  if (!(error instanceof Error)) return away(String(error))
  if ('type' in error && error.type === 'UNSUPPORTED_SASL_MECHANISM')
    return refused('KAFKA_SASL_MECHANISM: Kafka does not take logins of this kind')
  if (error.name !== 'KafkaJSSASLAuthenticationError' || NO_ANSWER.test(error.message)) return away(error.message)
  return refused('KAFKA_SASL_PASSWORD: Kafka refuses the user or the password')
}

/** What may be missing when brokers close connections, as they do to clients without TLS or login (OP-175). */
export function hintOf({ tls, sasl }: KafkaServers): string {
  const missing = [tls ? '' : 'KAFKA_TLS', sasl ? '' : 'KAFKA_SASL_MECHANISM'].filter((name) => name !== '')
  return missing.length === 0 ? '' : `; if it demands TLS or a login, set ${missing.join(' and ')}`
}
