import { apiCommand, commandGroup } from '../command/api-command.ts'
import { idArgument, list, wholeNumber } from '../command/arguments.ts'
import { UsageError } from '../command/command-error.ts'

const WORKSPACE = { id: idArgument("The workspace's id") }

export const workspaces = commandGroup('Workspaces and their settings', {
  list: apiCommand({
    description: 'List live workspaces with their sandboxes',
    request: 'GET /workspaces',
    args: {
      query: { type: 'string', description: 'Parts of name and domain, or the id of either', valueHint: 'TEXT' },
    },
    filter: ({ query }) => ({ query }),
    columns: ['id', 'name', 'domain', 'status', 'sandbox'],
  }),
  show: apiCommand({
    description: 'Show a workspace or sandbox with its settings',
    request: 'GET /workspaces/{id}',
    args: WORKSPACE,
  }),
  limits: apiCommand({
    description: 'Show how much a workspace may have, and has',
    request: 'GET /workspaces/{id}/limits',
    args: WORKSPACE,
  }),
  create: apiCommand({
    description: 'Create a workspace',
    request: 'POST /workspaces',
    args: {
      name: { type: 'positional', required: true, description: 'Its name' },
      domain: { type: 'string', description: "The shop's domain" },
      sandbox: { type: 'boolean', description: 'With a sandbox' },
    },
    body: ({ name, domain, sandbox = false }) => ({ name, domain, sandbox }),
  }),
  settings: apiCommand({
    description: 'Change the settings of a workspace; those that are not given stay',
    request: 'PUT /workspaces/{id}/settings',
    args: {
      ...WORKSPACE,
      'product-statuses': {
        type: 'string',
        description: 'Statuses of products that exist for it, such as ACTIVE,HIDDEN',
      },
      'per-second': { type: 'string', description: 'Requests a second of each key', valueHint: 'N' },
      burst: { type: 'string', description: 'Requests of each key at once', valueHint: 'N' },
      'cart-price-seconds': {
        type: 'string',
        description: 'For how long the prices of an order at CART hold',
        valueHint: 'N',
      },
    },
    body(args) {
      const statuses = args['product-statuses']
      const perSecond = wholeNumber('per-second', args['per-second'])
      const burst = wholeNumber('burst', args.burst)
      const cartPriceSeconds = wholeNumber('cart-price-seconds', args['cart-price-seconds'])
      if ((perSecond === undefined) !== (burst === undefined))
        throw new UsageError('--per-second and --burst go together')
      return {
        ...(statuses !== undefined && { product_statuses: list(statuses) }),
        ...(burst !== undefined && { rate_limit: { per_second: perSecond, burst } }),
        ...(cartPriceSeconds !== undefined && { cart_price_seconds: cartPriceSeconds }),
      }
    },
  }),
  suspend: apiCommand({
    description: 'Refuse the keys of a workspace and pause its deliveries',
    request: 'POST /workspaces/{id}/suspend',
    args: { ...WORKSPACE, reason: { type: 'string', description: 'For other operators' } },
    body: ({ reason }) => ({ reason }),
  }),
  resume: apiCommand({
    description: 'End the suspension of a workspace',
    request: 'POST /workspaces/{id}/resume',
    args: WORKSPACE,
  }),
  delete: apiCommand({
    description: 'Delete a workspace and everything of it in every service, for good',
    request: 'DELETE /workspaces/{id}',
    args: { ...WORKSPACE, yes: { type: 'boolean', description: 'Confirms that everything is to be deleted' } },
    check({ id, yes }) {
      if (!yes) throw new UsageError(`deletes everything of workspace ${id} for good: confirm it with --yes`)
    },
    note: 'The deletion has begun; backoffice workspaces deletion <id> shows what is left.',
  }),
  deletion: apiCommand({
    description: 'Show what is left of a deleted workspace in each service',
    request: 'GET /workspaces/{id}/deletion',
    args: WORKSPACE,
  }),
})
