import { SERVICE_NAMES, type ServiceName, schemaOf } from '@backoffice/contracts/services.ts'
import { KAFKA, refuseIncompleteKafka } from '@backoffice/messaging/kafka/kafka-settings.ts'
import { REGISTRY, refuseIncompleteRegistry } from '@backoffice/messaging/registry/registry-settings.ts'
import { DATABASE_CA, PostgresUrl } from '@backoffice/postgres/database-settings.ts'
import { MIGRATOR } from '@backoffice/postgres/provision.ts'
import { z } from 'zod'

/** Passwords by role, as JSON. A refusal does not repeat the text. */
const RolePasswords = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown
    } catch {
      context.addIssue('is not JSON')
      return z.NEVER
    }
  })
  .pipe(z.record(z.string(), z.string().min(1), 'is not a JSON object of passwords by role'))

/** The setting with the server of one service: `ADMIN_DATABASE_URL_CATALOG`. */
export const adminUrlSetting = (service: ServiceName): string => `ADMIN_DATABASE_URL_${schemaOf(service).toUpperCase()}`
/** The setting with the password of a role: `CATALOG_WORKER_PASSWORD`. */
export const passwordSetting = (role: string): string => `${role.toUpperCase()}_PASSWORD`

const ROLES = [MIGRATOR, ...SERVICE_NAMES.map(schemaOf).flatMap((schema) => [schema, `${schema}_worker`])]

const secretText = (description: string) => z.string().min(1).optional().describe(description).meta({ secret: true })
const secretUrl = (description: string) => PostgresUrl.optional().describe(description).meta({ secret: true })

/** The settings of `provision` and `migrate`. */
export const DatabasesConfig = z.object({
  ADMIN_DATABASE_URL: secretUrl(
    '`postgres://…` of a superuser or of the owner of the database, for services without a URL of their own. `migrate` uses its address alone.',
  ),
  DATABASE_CA,
  ROLE_PASSWORDS: RolePasswords.optional()
    .describe('The passwords of all roles, as a JSON object: `{ "catalog": "…" }`.')
    .meta({ secret: true }),
  ...Object.fromEntries(
    SERVICE_NAMES.map((service) => [
      adminUrlSetting(service),
      secretUrl('`ADMIN_DATABASE_URL` for the service of that name alone.'),
    ]),
  ),
  ...Object.fromEntries(
    ROLES.map((role) => [
      passwordSetting(role),
      secretText('The password of the role of that name, instead of that in `ROLE_PASSWORDS`.'),
    ]),
  ),
})

/** The settings of `topics`. */
export const TopicsConfig = z
  .object({
    ...KAFKA,
    KAFKA_PARTITIONS: z.coerce
      .number()
      .int()
      .min(1)
      .default(48)
      .describe(
        'Partitions of each topic but those of dead letters: as many replicas of a consumer can share its work. Decided at the first deploy; more later by the steps of `docs/operations.md`.',
      ),
    KAFKA_REPLICATION_FACTOR: z.coerce
      .number()
      .int()
      .min(1)
      .default(3)
      .describe('Copies of every record of a new topic. A write needs all of them but one, and at least one.'),
  })
  .superRefine(refuseIncompleteKafka)

/** The settings of `schemas`. */
export const SchemasConfig = z.object(REGISTRY).superRefine(refuseIncompleteRegistry)
