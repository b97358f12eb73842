import { Agent } from 'node:https'
import { ConfigurationError } from '@backoffice/runtime/configuration-error.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { type TlsRefusal, tlsRefusal } from '@backoffice/runtime/tls-refusal.ts'
import { RestError } from '@confluentinc/schemaregistry/dist/rest-error.js'
import { type Client, SchemaRegistryClient } from '@confluentinc/schemaregistry/dist/schemaregistry-client.js'
import type { RegistryServer } from './registry-settings.ts'

const ANSWER_WITHIN_MS = 5000
const UNAUTHORIZED = 401

/** A client of the schema registry. It repeats a failed request `maxRetries` times. A plain URL is without login. */
export function registryClient(registry: RegistryServer | string, maxRetries = 0): Client {
  const { url, login, ca }: RegistryServer = typeof registry === 'string' ? { url: registry } : registry
  return SchemaRegistryClient.newClient({
    baseURLs: [url],
    maxRetries,
    createAxiosDefaults: { timeout: ANSWER_WITHIN_MS, ...(ca !== undefined && { httpsAgent: new Agent({ ca }) }) },
    ...(login && {
      basicAuthCredentials: { credentialsSource: 'USER_INFO', userInfo: `${login.username}:${login.password}` },
    }),
  })
}

/** Sends a first request. Throws ConfigurationError when the registry or TLS refuses it, not when it is away. */
export async function refuseWrongRegistry(registry: RegistryServer, logger: Logger): Promise<void> {
  const client = registryClient(registry)
  try {
    await client.getDefaultCompatibility()
  } catch (error) {
    const tls = tlsRefusal(error)
    const problem = problemOf(error, tls, registry)
    if (problem !== undefined) throw new ConfigurationError(problem, { cause: error })
    const reason = tls?.reason ?? (error instanceof Error ? error.message : error)
    // A user may have rights to its subjects alone.
    if (error instanceof RestError) logger.warn(`the schema registry refuses the first request: ${reason}`)
    else logger.warn(`the schema registry does not answer${hintOf(registry)}: ${reason}`)
  } finally {
    await client.close()
  }
}

function problemOf(error: unknown, tls: TlsRefusal | undefined, { login }: RegistryServer): string | undefined {
  if (tls && !tls.mayEnd) return `SCHEMA_REGISTRY_CA: no TLS connection to the schema registry: ${tls.reason}`
  if (!(error instanceof RestError) || error.status !== UNAUTHORIZED) return undefined
  return login === undefined
    ? `SCHEMA_REGISTRY_USERNAME: is missing; the schema registry demands a login (${UNAUTHORIZED})`
    : `SCHEMA_REGISTRY_PASSWORD: the schema registry refuses the user or the password (${UNAUTHORIZED})`
}

/** A server that demands TLS may close a connection without TLS, and then looks like one that is away (OP-175). */
const hintOf = ({ url }: RegistryServer) =>
  url.startsWith('http:') ? '; if it demands TLS, SCHEMA_REGISTRY_URL has to begin with https' : ''
