import type { ServiceName } from '@backoffice/contracts/services.ts'
import type { PasswordOf } from '@backoffice/postgres/provision.ts'
import { readConfig } from '@backoffice/runtime/config.ts'
import { ConfigurationError } from '@backoffice/runtime/configuration-error.ts'
import type { z } from 'zod'
import { adminUrlSetting, DatabasesConfig, passwordSetting } from './config.ts'

/** Where the databases of services are, and the passwords of their roles. */
export interface Databases {
  /** The URL of a superuser, or of the owner of the database, for each service. */
  readonly adminUrlOf: (service: ServiceName) => string
  readonly passwordOf: PasswordOf
  /** Certificates of the authorities of these servers, in PEM. */
  readonly ca?: string | undefined
}

/** Reads the settings of the databases. Its functions throw ConfigurationError when they need a missing setting. */
export function readDatabases(environment?: NodeJS.ProcessEnv): Databases {
  const config: Readonly<Record<string, unknown>> = readConfig(DatabasesConfig, environment)
  const { ADMIN_DATABASE_URL, ROLE_PASSWORDS, DATABASE_CA: ca } = config as z.output<typeof DatabasesConfig>
  const required = (value: unknown, problem: string): string => {
    if (typeof value === 'string') return value
    throw new ConfigurationError(problem)
  }
  return {
    ca,
    adminUrlOf: (service) =>
      required(
        config[adminUrlSetting(service)] ?? ADMIN_DATABASE_URL,
        `ADMIN_DATABASE_URL: is missing, and ${adminUrlSetting(service)} too`,
      ),
    passwordOf: (role) =>
      required(
        config[passwordSetting(role)] ?? (ROLE_PASSWORDS as Record<string, string> | undefined)?.[role],
        `${passwordSetting(role)}: is missing, and ROLE_PASSWORDS has no ${role}`,
      ),
  }
}
