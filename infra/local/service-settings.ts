import { join } from 'node:path'
import {
  calledBy,
  SERVICES,
  type ServiceName,
  type Setting,
  schemaOf,
  urlSetting,
} from '@backoffice/contracts/services.ts'
import { roleUrl } from '@backoffice/postgres/provision.ts'
import { INTERNAL_KEY_ID, rolePasswords, type Secrets } from './secrets.ts'

/** The values that the services' settings follow from. */
export interface StackEnvironment {
  /** The folder of the stack's data. */
  readonly directory: string
  /** A superuser's URL. */
  readonly postgres: string
  readonly kafka: readonly string[]
  readonly registry: string
  readonly secrets: Secrets
  /** The URL of each service. */
  readonly urls: Readonly<Partial<Record<ServiceName, string>>>
}

/** The settings that single services need. */
const SETTINGS: Readonly<Record<Setting, (stack: StackEnvironment) => string>> = {
  ADMIN_TOKEN: ({ secrets }) => secrets.adminToken,
  ASSETS_DIRECTORY: ({ directory }) => join(directory, 'assets'),
  IMAGES_ALLOW_LOOPBACK: () => 'true',
  IMPORTS_DIRECTORY: ({ directory }) => join(directory, 'imports'),
  ASSETS_URL: ({ urls }) => `${urls.gateway}/assets`,
  API_KEY_CHECK_KEYS: ({ secrets }) => secrets.apiKeyCheckKey,
  APP_SECRET_KEYS: ({ secrets }) => secrets.appSecretKey,
  APP_TOKEN_KEYS: ({ secrets }) => secrets.appTokenKey,
  APPS_ALLOW_LOOPBACK: () => 'true',
  PLATFORM_ISSUER: ({ urls }) => urls.gateway ?? '',
  PUBLIC_URL: ({ urls }) => urls.gateway ?? '',
  WEBHOOK_SECRET_KEYS: ({ secrets }) => secrets.webhookSecretKey,
  WEBHOOK_ALLOW_LOOPBACK: () => 'true',
}

/** The superuser's URL for a service's schema: ADMIN_DATABASE_URL_<SERVICE>, or the stack's own server. */
export const serverOf = (name: ServiceName, stackServer: string): string =>
  process.env[`ADMIN_DATABASE_URL_${schemaOf(name).toUpperCase()}`] || stackServer

/** The settings of a service in this stack. The environment's own win, except for the backing services. */
export function settingsOf(
  name: ServiceName,
  stack: StackEnvironment,
  environment: NodeJS.ProcessEnv = {},
): NodeJS.ProcessEnv {
  const { secrets, urls } = stack
  const postgres = serverOf(name, stack.postgres)
  const schema = schemaOf(name)
  const passwordOf = rolePasswords(secrets)
  const settings = {
    INTERNAL_TOKEN_PUBLIC_KEYS: `${INTERNAL_KEY_ID}:${secrets.internalPublicKey}`,
    ...(calledBy(name).length > 0 && {
      INTERNAL_TOKEN_PRIVATE_KEYS: `${INTERNAL_KEY_ID}:${secrets.internalPrivateKey}`,
    }),
    ...Object.fromEntries(calledBy(name).map((called) => [urlSetting(called), urls[called]])),
    ...Object.fromEntries(SERVICES[name].settings.map((setting) => [setting, SETTINGS[setting](stack)])),
  }
  return {
    ...Object.fromEntries(Object.entries(settings).map(([setting, value]) => [setting, environment[setting] || value])),
    DATABASE_URL: roleUrl(postgres, schema, passwordOf),
    WORKER_DATABASE_URL: roleUrl(postgres, `${schema}_worker`, passwordOf),
    KAFKA_BROKERS: stack.kafka.join(','),
    SCHEMA_REGISTRY_URL: stack.registry,
  }
}
