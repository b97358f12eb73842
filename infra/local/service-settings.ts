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
import type { Secrets } from './secrets.ts'

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
  INTERNAL_TOKEN_PRIVATE_KEY: ({ secrets }) => secrets.internalPrivateKey,
  ASSETS_DIRECTORY: ({ directory }) => join(directory, 'assets'),
  IMPORTS_DIRECTORY: ({ directory }) => join(directory, 'imports'),
  ASSETS_URL: ({ urls }) => `${urls.gateway}/assets`,
  API_KEY_CHECK_KEYS: ({ secrets }) => secrets.apiKeyCheckKey,
  APP_SECRET_KEYS: ({ secrets }) => secrets.appSecretKey,
  APP_TOKEN_KEYS: ({ secrets }) => secrets.appTokenKey,
  APPS_ALLOW_LOOPBACK: () => 'true',
  GATEWAY_URL: ({ urls }) => urls.gateway ?? '',
  PLATFORM_ISSUER: ({ urls }) => urls.gateway ?? '',
  PUBLIC_URL: ({ urls }) => urls.gateway ?? '',
  WEBHOOK_SECRET_KEYS: ({ secrets }) => secrets.webhookSecretKey,
  WEBHOOK_ALLOW_LOOPBACK: () => 'true',
}

/** The settings of a service in this stack. */
export function settingsOf(name: ServiceName, stack: StackEnvironment): NodeJS.ProcessEnv {
  const { postgres, secrets, urls } = stack
  const schema = schemaOf(name)
  return {
    DATABASE_URL: roleUrl(postgres, schema, secrets.rolePassword),
    WORKER_DATABASE_URL: roleUrl(postgres, `${schema}_worker`, secrets.rolePassword),
    KAFKA_BROKERS: stack.kafka.join(','),
    SCHEMA_REGISTRY_URL: stack.registry,
    INTERNAL_TOKEN_PUBLIC_KEY: secrets.internalPublicKey,
    ...Object.fromEntries(calledBy(name).map((called) => [urlSetting(called), urls[called]])),
    ...Object.fromEntries(SERVICES[name].settings.map((setting) => [setting, SETTINGS[setting](stack)])),
  }
}
