import { Certificates } from '@backoffice/runtime/certificates.ts'
import { List, Switch } from '@backoffice/runtime/config.ts'
import { z } from 'zod'

/** The settings of connections to Kafka. */
export const KAFKA = {
  KAFKA_BROKERS: List.pipe(z.array(z.string().regex(/^.+:\d+$/, 'is not host:port')).min(1)).describe(
    'Brokers to ask for the others first: `host:port`, comma-separated.',
  ),
  KAFKA_PREFIX: z
    .string()
    .default('')
    .describe('Text before the name of every topic and consumer group, for installations that share a Kafka.'),
  KAFKA_TLS: Switch.describe('Whether connections to the brokers use TLS: `true` or `false`.'),
  KAFKA_CA: Certificates.optional()
    .describe(
      'Certificates in PEM of the authorities that sign those of the brokers; those that Node.js knows unless set.',
    )
    .meta({ file: true }),
  KAFKA_SASL_MECHANISM: z
    .enum(['plain', 'scram-sha-256', 'scram-sha-512'])
    .optional()
    .describe('How to log in: `plain`, `scram-sha-256` or `scram-sha-512`; without login unless set.'),
  KAFKA_SASL_USERNAME: z.string().optional().describe('The user that logs in, with `KAFKA_SASL_MECHANISM`.'),
  KAFKA_SASL_PASSWORD: z.string().optional().describe('The password of that user.').meta({ secret: true }),
}

type KafkaSettings = z.output<z.ZodObject<typeof KAFKA>>

/** The brokers, and how connections to them are secured. */
export interface KafkaServers {
  readonly brokers: readonly string[]
  /** Put before the name of every topic and group, so that installations and tests share one Kafka. */
  readonly prefix?: string | undefined
  /** TLS is off unless given. Without `ca`, the authorities that Node.js knows are trusted. */
  readonly tls?: { readonly ca?: string | undefined } | undefined
  /** Without login unless given. */
  readonly sasl?: KafkaLogin | undefined
}

export interface KafkaLogin {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
  readonly username: string
  readonly password: string
}

/** The servers that the settings lead to. */
export function kafkaServers(config: KafkaSettings): KafkaServers {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = config
  return {
    brokers: config.KAFKA_BROKERS,
    prefix: config.KAFKA_PREFIX,
    tls: config.KAFKA_TLS ? { ca: config.KAFKA_CA } : undefined,
    sasl: mechanism && { mechanism, username: username ?? '', password: password ?? '' },
  }
}

/** Refuses settings of which only a part is there: such a connection would be less secure than it looks. */
export function refuseIncompleteKafka(config: Partial<KafkaSettings>, context: z.RefinementCtx): void {
  const refuse = (name: keyof KafkaSettings, message: string) =>
    context.addIssue({ code: 'custom', path: [name], message })
  const { KAFKA_TLS, KAFKA_CA, KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD } = config
  if (KAFKA_CA !== undefined && KAFKA_TLS === false) refuse('KAFKA_TLS', 'must be true, since KAFKA_CA is set')
  const login = { KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD }
  const names = Object.keys(login) as (keyof typeof login)[]
  const missing = names.filter((name) => login[name] === undefined)
  if (missing.length === names.length) return
  for (const name of missing) refuse(name, 'is missing; a login takes KAFKA_SASL_MECHANISM, _USERNAME and _PASSWORD')
}
