import { z } from 'zod'
import { Id, NonNegativeInteger, Timestamp } from './fields.ts'
import { namedObject } from './named.ts'
import { PageQuery } from './pagination.ts'

/** The states of an installation (OP-81). */
const InstallationState = z.enum(['PENDING', 'ACTIVE', 'FAILED', 'UNINSTALLED'])

/** `standard_signature` is there when the manifest has it. */
const Webhooks = z
  .strictObject({ path: z.string(), events: z.array(z.string()), standard_signature: z.boolean().optional() })
  .nullable()
const Checkout = z.strictObject({ path: z.string() }).nullable()

/** A registered app, as operators see it. `version` counts its manifests. */
export const App = z.strictObject({
  id: Id,
  provider: z.string(),
  name: z.string(),
  origin: z.string(),
  audience: z.string(),
  scopes: z.array(z.string()),
  embed: z.string(),
  webhooks: Webhooks,
  checkout: Checkout,
  version: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type App = z.output<typeof App>

/**
 * An app in a workspace. `scopes` are those that the merchant consented to, `requested_scopes` those that wait for a
 * consent; `webhooks` are the requested ones while a request is pending.
 */
export const Installation = z.strictObject({
  id: Id,
  provider: z.string(),
  name: z.string(),
  origin: z.string(),
  embed: z.string(),
  workspace: Id,
  livemode: z.boolean(),
  state: InstallationState,
  scopes: z.array(z.string()),
  requested_scopes: z.array(z.string()),
  webhooks: Webhooks,
  checkout: Checkout,
  last_error: z.string().nullable(),
  created_at: Timestamp,
  consented_at: Timestamp.nullable(),
  activated_at: Timestamp.nullable(),
  uninstalled_at: Timestamp.nullable(),
})
export type Installation = z.output<typeof Installation>

/** The query of the list of all workspaces' installations (OP-230). */
export const InstallationQuery = PageQuery.extend({
  app: Id.optional(),
  state: InstallationState.optional(),
  /** `true`: those whose last call to the app has failed; `false`: the others. */
  error: z.enum(['true', 'false']).optional(),
})

/** Why an app is suspended, for operators (OP-228). */
export const SuspensionReason = z.strictObject({ reason: z.string().trim().min(1).max(255).nullish() }).prefault({})

/**
 * Whether an app is suspended or being deleted, since when and why (OP-228, OP-229). `in_force`: in all workspaces.
 */
export const AppStatus = z.strictObject({
  id: Id,
  provider: z.string(),
  status: z.enum(['ACTIVE', 'SUSPENDED', 'DELETED']),
  reason: z.string().nullable(),
  changed_at: Timestamp.nullable(),
  in_force: z.boolean(),
})
export type AppStatus = z.output<typeof AppStatus>

/** An app of the caller's workspace, as `GET /v1/apps` shows it. */
export const InstalledApp = namedObject(
  'App',
  {
    id: Id,
    provider: z.string(),
    name: z.string(),
    state: InstallationState,
    scopes: z.array(z.string()),
    requested_scopes: z.array(z.string()),
    embed: z.string(),
    webhooks: Webhooks,
    checkout: Checkout,
    last_error: z.string().nullable(),
    created_at: Timestamp,
    activated_at: Timestamp.nullable(),
  },
  {
    id: '0198c7a0-0000-7000-8000-000000000070',
    provider: 'acme-pay',
    name: 'Acme Pay',
    state: 'ACTIVE',
    scopes: ['sale::read', 'sale::create'],
    requested_scopes: [],
    embed: '/embed',
    webhooks: { path: '/webhooks', events: ['order.paid'] },
    checkout: { path: '/checkout' },
    last_error: null,
    created_at: '2026-03-01T12:00:00.000Z',
    activated_at: '2026-03-01T12:00:01.000Z',
  },
)
export type InstalledApp = z.output<typeof InstalledApp>

/** The last installation of a draft. */
const AppDraftInstallation = namedObject('AppDraftInstallation', {
  id: Id,
  state: InstallationState,
  scopes: z.array(z.string()),
  last_error: z.string().nullable(),
})

/** A draft of an app, as its sandbox sees it (OP-286). */
export const AppDraft = namedObject(
  'AppDraft',
  { ...App.shape, installation: AppDraftInstallation.nullable() },
  {
    id: '0198c7a0-0000-7000-8000-000000000073',
    provider: 'draft-9f3c2a10b7de-acme-pay',
    name: 'Acme Pay',
    origin: 'https://pay.example.com',
    audience: 'draft-9f3c2a10b7de-acme-pay',
    scopes: ['sale::read', 'sale::create'],
    embed: '/embed',
    webhooks: { path: '/webhooks', events: ['order.paid'] },
    checkout: { path: '/checkout' },
    version: 1,
    created_at: '2026-03-01T12:00:00.000Z',
    updated_at: '2026-03-01T12:00:00.000Z',
    installation: {
      id: '0198c7a0-0000-7000-8000-000000000074',
      state: 'PENDING',
      scopes: ['sale::read', 'sale::create'],
      last_error: '/install/provision: answered 500',
    },
  },
)
export type AppDraft = z.output<typeof AppDraft>

/** A token for the embed of an app (OP-83), and where the embed is. */
export const AppSession = z.strictObject({
  token: z.string(),
  expires_at: Timestamp,
  provider: z.string(),
  origin: z.string(),
  embed: z.string(),
})
export type AppSession = z.output<typeof AppSession>

/** What the platform sends to an app's create-checkout endpoint (OP-85). */
export const CheckoutRequest = z.strictObject({ orderId: Id, amountMinor: NonNegativeInteger, currency: z.string() })
/** What the app answers. Its amount may include a fee of its own. */
export const CheckoutSession = namedObject(
  'CheckoutSession',
  {
    sessionId: z.string().min(1).max(255),
    redirectUrl: z.url({ protocol: /^https?$/ }).max(2048),
    amountMinor: NonNegativeInteger,
  },
  { sessionId: 'cs_4f1d', redirectUrl: 'https://pay.example.com/cs_4f1d', amountMinor: 2500 },
)
export type CheckoutSession = z.output<typeof CheckoutSession>

/** The workspace of acts and requests that concern the whole platform: the nil UUID. */
export const PLATFORM = '00000000-0000-0000-0000-000000000000'

/** Who acts: an operator, a merchant, the platform itself, or its support (OP-239). */
export const Who = z.enum(['operator', 'merchant', 'system', 'support'])
export type Who = z.output<typeof Who>

/**
 * The data of act.recorded, for the gateway's audit log. `actor` is an operator's name, `merchant`, or `apps` for what
 * the service does by itself; `target` is a path under /admin/v1. About no workspace: the nil UUID.
 */
export const RecordedAct = z.strictObject({
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  request_id: z.string(),
  /** Records of the version before lack it. */
  who: Who.optional(),
})
