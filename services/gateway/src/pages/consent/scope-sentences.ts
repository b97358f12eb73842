import { GRANTS, type RESOURCES, type Scope } from '@backoffice/contracts/scopes.ts'

type Grant = '*' | (typeof RESOURCES)[number] | Scope

/** What a grant lets an app do, in words for merchants: "It may …" (OP-04). */
export const SCOPE_SENTENCES: Readonly<Record<Grant, string>> = {
  '*': 'do everything in this workspace: read, create, change and delete all of its data, now and in the future',
  product: 'do everything with your products, collections, categories and stock: see, add, change and delete them',
  'product::read': 'see your products, variants, prices, stock, categories, tags and collections',
  'product::create': 'add products, variants, images, categories and collections',
  'product::update': 'change your products, prices, stock, categories and collections',
  'product::delete': 'delete your products, variants, categories, tags and collections',
  sale: 'do everything with your sales: see, create, change and delete orders, payments, invoices and fulfillments',
  'sale::read': 'see your orders, with their payments, invoices and fulfillments, and who bought what',
  'sale::create': 'create orders, and record payments, invoices and fulfillments',
  'sale::update': 'change your orders and your order form',
  'sale::delete': 'delete your sales records',
  customer: 'do everything with your customers: see, add, change and delete them and their personal data',
  'customer::read': 'see your customers, with their names, addresses and other personal data',
  'customer::create': 'add customers',
  'customer::update': 'change the data of your customers',
  'customer::delete': 'delete customers and erase their personal data',
  import: 'do everything with imports: see, start, cancel and undo them',
  'import::read': 'see your imports, with their files and reports',
  'import::create':
    'import files, which can add and change many products, orders and customers at once; cancel and undo imports',
  'import::update': 'change your imports',
  'import::delete': 'delete your imports',
  webhook: 'do everything with webhooks: see, create, change and delete them, also those of other apps',
  'webhook::read': 'see where your workspace sends events, and what it has sent',
  'webhook::create': 'send your events, with the data in them, to any address on the internet',
  'webhook::update': 'change which events are sent to which address',
  'webhook::delete': 'stop events from being sent to an address',
  app: 'do everything with apps: see, add, change and delete them',
  'app::read': 'see which apps are installed and what they may do',
  'app::create': 'add apps',
  'app::update': 'change apps',
  'app::delete': 'remove apps',
}

/** A grant as the consent page shows it. */
export interface ShownScope {
  readonly scope: string
  readonly sentence: string
  /** Everything, or everything about a resource. */
  readonly isWide: boolean
  /** Not among the scopes that the merchant has consented to before. */
  readonly isNew: boolean
}

/** The scopes for the consent page: wide ones first. `consented` are those of before; empty for a new installation. */
export const shownScopes = (scopes: readonly string[], consented: readonly string[]): ShownScope[] =>
  scopes
    .map((scope) => ({
      scope,
      sentence: SCOPE_SENTENCES[scope as Grant] ?? `use ${scope}`,
      isWide: !scope.includes('::'),
      isNew: consented.length > 0 && !consented.includes(scope),
    }))
    .toSorted((a, b) => Number(b.isWide) - Number(a.isWide) || GRANTS.indexOf(a.scope) - GRANTS.indexOf(b.scope))
