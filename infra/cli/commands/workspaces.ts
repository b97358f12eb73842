import { apiCommand, commandGroup, listCommand } from '../command/api-command.ts'
import { id, idArgument, list, wholeNumber } from '../command/arguments.ts'
import { UsageError } from '../command/command-error.ts'

const WORKSPACE = { id: idArgument("The workspace's id") }

export const workspaces = commandGroup('Workspaces and their settings', {
  list: listCommand({
    description: 'List live workspaces with their sandboxes',
    path: () => '/workspaces',
    columns: ['id', 'name', 'domain', 'status', 'sandbox'],
  }),
  create: apiCommand({
    description: 'Create a workspace',
    args: {
      name: { type: 'positional', required: true, description: 'Its name' },
      domain: { type: 'string', description: "The shop's domain" },
      sandbox: { type: 'boolean', description: 'With a sandbox' },
    },
    request: ({ name, domain, sandbox = false }) => ({
      method: 'POST',
      path: '/workspaces',
      body: { name, domain, sandbox },
    }),
  }),
  settings: apiCommand({
    description: 'Change the settings of a workspace; those that are not given stay',
    args: {
      ...WORKSPACE,
      'product-statuses': {
        type: 'string',
        description: 'Statuses of products that exist for it, such as ACTIVE,HIDDEN',
      },
      'per-second': { type: 'string', description: 'Requests a second of each key', valueHint: 'N' },
      burst: { type: 'string', description: 'Requests of each key at once', valueHint: 'N' },
    },
    request(args) {
      const statuses = args['product-statuses']
      const perSecond = wholeNumber('per-second', args['per-second'])
      const burst = wholeNumber('burst', args.burst)
      if ((perSecond === undefined) !== (burst === undefined))
        throw new UsageError('--per-second and --burst go together')
      const body = {
        ...(statuses !== undefined && { product_statuses: list(statuses) }),
        ...(burst !== undefined && { rate_limit: { per_second: perSecond, burst } }),
      }
      return { method: 'PUT', path: `/workspaces/${id(args.id)}/settings`, body }
    },
  }),
  suspend: apiCommand({
    description: 'Refuse the keys of a workspace and pause its deliveries',
    args: { ...WORKSPACE, reason: { type: 'string', description: 'For other operators' } },
    request: (args) => ({
      method: 'POST',
      path: `/workspaces/${id(args.id)}/suspend`,
      body: { reason: args.reason },
    }),
  }),
  resume: apiCommand({
    description: 'End the suspension of a workspace',
    args: WORKSPACE,
    request: (args) => ({ method: 'POST', path: `/workspaces/${id(args.id)}/resume` }),
  }),
  delete: apiCommand({
    description: 'Delete a workspace and everything of it in every service, for good',
    args: { ...WORKSPACE, yes: { type: 'boolean', description: 'Confirms that everything is to be deleted' } },
    request(args) {
      if (!args.yes) throw new UsageError(`deletes everything of workspace ${args.id} for good: confirm it with --yes`)
      return { method: 'DELETE', path: `/workspaces/${id(args.id)}` }
    },
    note: 'The deletion has begun; backoffice workspaces deletion <id> shows what is left.',
  }),
  deletion: apiCommand({
    description: 'Show what is left of a deleted workspace in each service',
    args: WORKSPACE,
    request: (args) => ({ method: 'GET', path: `/workspaces/${id(args.id)}/deletion` }),
  }),
})
