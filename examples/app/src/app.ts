import {
  encryptedKeyStore,
  type KeyStore,
  type PlatformTokens,
  platformTokens,
  TokenRefused,
  WebhookRefused,
} from '@backoffice/app-sdk'
import fastify, { type FastifyInstance } from 'fastify'
import { ZodError, z } from 'zod'
import { addCheckout } from './checkout/create-checkout.ts'
import { addPayPage } from './checkout/pay-page.ts'
import { addSettling } from './checkout/settle.ts'
import { credentialRecords, type Database, openDatabase, usedTokens } from './database.ts'
import { addEmbed } from './embed/embed.ts'
import { addProvision } from './install/provision.ts'
import { addUninstall } from './install/uninstall.ts'
import type { Settings } from './settings.ts'
import { addWebhooks } from './webhooks/receive-webhook.ts'

/** What the routes work with. */
export interface Parts {
  readonly settings: Settings
  readonly database: Database
  readonly tokens: PlatformTokens
  readonly keys: KeyStore
  /** Those that may still be in force beside new ones. */
  readonly formerKeys: KeyStore
}

/** Makes the app. Fastify's log has methods, paths and statuses; no header, no body and no credentials. */
export function paymentApp(settings: Settings, logger: boolean): FastifyInstance {
  const {
    PLATFORM_URL,
    PLATFORM_ISSUER: issuer,
    PLATFORM_PEM: pem,
    APP_ENCRYPTION_KEY,
    DATABASE,
    PROVIDER: provider,
  } = settings
  const database = openDatabase(DATABASE)
  const parts: Parts = {
    settings,
    database,
    tokens: platformTokens({
      issuer,
      provider,
      keys: pem === undefined ? { jwksUrl: `${PLATFORM_URL}/.well-known/jwks.json` } : { pem },
      usedTokens: usedTokens(database),
    }),
    keys: encryptedKeyStore(credentialRecords(database), APP_ENCRYPTION_KEY),
    formerKeys: encryptedKeyStore(credentialRecords(database, 'former_credentials'), APP_ENCRYPTION_KEY),
  }
  const app = fastify({ logger })
  app.setErrorHandler((error, request, reply) => {
    const status = statusOf(error)
    if (status >= 500) request.log.error(error)
    const message = status < 500 && error instanceof Error ? messageOf(error) : 'the app failed; try again'
    return reply.status(status).send({ error: { message } })
  })
  app.addHook('onClose', async () => database.close())
  for (const add of [addProvision, addUninstall, addEmbed, addCheckout, addPayPage, addSettling, addWebhooks])
    add(app, parts)
  return app
}

/**
 * The platform tries again what is answered with 5xx, and shows the message of a refused checkout. 503 says that
 * something is away, such as the platform's public keys.
 */
function statusOf(error: unknown): number {
  if (error instanceof TokenRefused) return 401
  if (error instanceof WebhookRefused || error instanceof ZodError) return 400
  const { statusCode = 503 } = error as { statusCode?: number }
  return statusCode
}

const messageOf = (error: Error) => (error instanceof ZodError ? z.prettifyError(error) : error.message)
