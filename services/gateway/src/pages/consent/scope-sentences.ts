import { GRANTS, type RESOURCES, type Scope } from '@backoffice/contracts/scopes.ts'

type Grant = '*' | (typeof RESOURCES)[number] | Scope

/** What a grant lets an app do, in words for merchants (OP-04). */
export const SCOPE_SENTENCES: Readonly<Record<Grant, string>> = {
  '*': 'Do everything in this workspace: read, create, change and delete all of its data, now and in the future',
  product: 'Do everything with your products, collections, categories and stock: see, add, change and delete them',
  'product::read': 'See your products, variants, prices, stock, categories, tags and collections',
  'product::create': 'Add products, variants, images, categories and collections',
  'product::update': 'Change your products, prices, stock, categories and collections',
  'product::delete': 'Delete your products, variants, categories, tags and collections',
  sale: 'Do everything with your sales: see, create, change and delete orders, payments, refunds, invoices and fulfillments',
  'sale::read': 'See your orders, with their payments, refunds, invoices and fulfillments, and who bought what',
  'sale::create': 'Create orders, and record payments, refunds, invoices and fulfillments',
  'sale::update': 'Change your orders and your order form',
  'sale::delete': 'Delete your sales records',
  customer: 'Do everything with your customers: see, add, change and delete them and their personal data',
  'customer::read': 'See your customers, with their names, addresses and other personal data',
  'customer::create': 'Add customers',
  'customer::update': 'Change the data of your customers',
  'customer::delete': 'Delete customers and erase their personal data',
  import: 'Do everything with imports: see, start, cancel and undo them',
  'import::read': 'See your imports, with their files and reports',
  'import::create':
    'Import files, which can add and change many products, orders and customers at once; cancel and undo imports',
  'import::update': 'Change your imports',
  'import::delete': 'Delete your imports',
  webhook: 'Do everything with webhooks: see, create, change and delete them, also those of other apps',
  'webhook::read': 'See where your workspace sends events, and what it has sent',
  'webhook::create': 'Send your events, with the data in them, to any address on the internet',
  'webhook::update': 'Change which events are sent to which address',
  'webhook::delete': 'Stop events from being sent to an address',
  app: 'Do everything with apps: see, add, change and delete them',
  'app::read': 'See which apps are installed and what they may do',
  'app::create': 'Add apps',
  'app::update': 'Change apps',
  'app::delete': 'Remove apps',
  workspace: 'Do everything with the workspace as such: see how much it uses, and change it',
  'workspace::read': 'See how much your workspace uses: its requests, stored files, webhook endpoints and events',
  'workspace::create': 'Add to the workspace as such',
  'workspace::update': 'Change the workspace as such',
  'workspace::delete': 'Remove from the workspace as such',
}

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
      sentence: SCOPE_SENTENCES[scope as Grant] ?? `Use ${scope}`,
      isWide: !scope.includes('::'),
      isNew: consented.length > 0 && !consented.includes(scope),
    }))
    .toSorted((a, b) => Number(b.isWide) - Number(a.isWide) || GRANTS.indexOf(a.scope) - GRANTS.indexOf(b.scope))
