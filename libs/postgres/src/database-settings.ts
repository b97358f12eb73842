import { Certificates } from '@backoffice/runtime/certificates.ts'
import { z } from 'zod'
import type { DatabaseServer } from './database-server.ts'

/** The setting with the certificates that verify PostgreSQL's servers. */
export const DATABASE_CA = Certificates.optional()
  .describe(
    'Certificates in PEM of the authorities that sign those of PostgreSQL. Turns TLS on for every connection to it and checks the host too (`verify-full`). ' +
      'Unless set, `sslmode` of the URL decides, whose default is no TLS.',
  )
  .meta({ file: true })

/** Without the scheme, `localhost:5432/backoffice` is a URL as well. The driver would look for a host named `[`. */
export const PostgresUrl = z
  .url({ protocol: /^postgres(ql)?$/, error: 'is no URL that begins with postgres://', abort: true })
  .refine((url) => !new URL(url).hostname.startsWith('['), 'has an IPv6 address: give the server a name')

const url = (description: string) => PostgresUrl.describe(description).meta({ secret: true })

/** The settings of connections of the app role. */
export const APP_DATABASE = {
  DATABASE_URL: url('`postgres://…` of the app role, which acts inside one workspace: requests use it.'),
  DATABASE_CA,
}

/** The settings of connections of the worker role. */
export const WORKER_DATABASE = {
  WORKER_DATABASE_URL: url(
    '`postgres://…` of the worker role, which works across workspaces. It leads to the server itself, never to a pooler: advisory locks and LISTEN belong to a session.',
  ),
  DATABASE_CA,
}

/** The server as the app role. */
export const appServer = (config: z.output<z.ZodObject<typeof APP_DATABASE>>): DatabaseServer => ({
  url: config.DATABASE_URL,
  ca: config.DATABASE_CA,
})

/** The server as the worker role. */
export const workerServer = (config: z.output<z.ZodObject<typeof WORKER_DATABASE>>): DatabaseServer => ({
  url: config.WORKER_DATABASE_URL,
  ca: config.DATABASE_CA,
})
