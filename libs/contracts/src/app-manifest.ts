import { z } from 'zod'
import { EnabledEvents } from './enabled-events.ts'
import { Name } from './fields.ts'
import { isReservedName, RESERVED_NAME } from './reserved-names.ts'
import { GRANTS } from './scopes.ts'

const granted = new Set(GRANTS)

/** The scopes that an app asks for: each once, at least one (OP-04). */
export const AppScopes = z
  .array(
    z
      .string()
      .refine((scope) => granted.has(scope), 'is not a scope: a resource, <resource>::<action>, or "*" (OP-04)')
      .meta({ examples: ['product::read'] }),
  )
  .min(1)
  .max(GRANTS.length)
  .refine((scopes) => new Set(scopes).size === scopes.length, 'has a scope twice')

const PATH = /^\/(?!\/)[\w\-.~!$&'()*+,;=:@/%]*$/
const isUnchangedByUrl = (path: string) => URL.parse(path, 'https://app.example')?.pathname === path

/** A path on the app's origin: what `new URL` would change, or read as another host, is refused. */
const AppPath = z
  .string()
  .max(512)
  .regex(PATH, 'must be a path such as /embed, without query or fragment')
  .refine(isUnchangedByUrl, 'must not contain . or .. segments')
  .meta({ examples: ['/embed'] })

/** The path that gets the events of a workspace: `{workspace}` stands for its id (OP-196). */
const pathIn = (path: string, workspaceId: string): string => path.replaceAll('{workspace}', workspaceId)

const WebhookPath = z
  .string()
  .max(512)
  .refine(
    (path) => PATH.test(pathIn(path, 'id')),
    'must be a path such as /webhooks/{workspace}, without query or fragment; only {workspace} may stand in braces',
  )
  .refine((path) => isUnchangedByUrl(pathIn(path, 'id')), 'must not contain . or .. segments')

/** Where an app gets the events of a workspace. */
export const webhookUrl = (path: string, origin: string, workspaceId: string): URL =>
  new URL(pathIn(path, workspaceId), origin)

/** An app's name towards the platform; it is part of URLs, and the provider of payments (OP-80). */
export const Provider = z
  .string()
  .min(2)
  .max(64)
  .regex(/^[a-z0-9]+(?:[-_][a-z0-9]+)*$/, 'must be lower case letters and digits in parts joined by single - or _')

/** The manifest of an app: the file `<service>.app.json` (spec: App manifest; OP-80). */
export const AppManifest = z.strictObject({
  provider: Provider,
  /** Shown to merchants; the provider unless given. */
  name: Name.max(100)
    .refine((name) => !isReservedName(name), RESERVED_NAME)
    .optional(),
  /** The `aud` of tokens for the app; the provider unless given. */
  audience: z.string().min(1).max(255).optional(),
  scopes: AppScopes,
  embed: AppPath,
  webhooks: z
    .strictObject({
      path: WebhookPath,
      events: EnabledEvents,
      /** Whether deliveries carry a signature for the libraries of Standard Webhooks as well; false unless given. */
      standard_signature: z.boolean().optional(),
    })
    .optional(),
  checkout: z.strictObject({ path: AppPath }).optional(),
})
export type AppManifest = z.output<typeof AppManifest>

/** The manifest of a new app: its provider is no reserved name (OP-239). One that is there keeps its provider. */
export const NewAppManifest = z.strictObject({
  ...AppManifest.shape,
  provider: Provider.refine((provider) => !isReservedName(provider), RESERVED_NAME),
})
