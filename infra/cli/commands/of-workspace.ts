import { apiCommand, commandGroup, workspaceCommand } from '../command/api-command.ts'
import { id, idArgument } from '../command/arguments.ts'

const ENDPOINT = { id: idArgument("The endpoint's id") }
const ORDER = { id: idArgument("The order's id") }
const IMPORT = { id: idArgument("The import's id") }
const TIMES = {
  since: { type: 'string', description: 'From this time on, such as 2027-01-31T00:00:00Z', valueHint: 'TIME' },
  until: { type: 'string', description: 'Before this time', valueHint: 'TIME' },
} as const

export const orders = commandGroup('Orders of a workspace', {
  list: workspaceCommand({
    description: 'List orders, newest first',
    request: 'GET /orders',
    args: {
      query: { type: 'string', description: 'Words of customer and order', valueHint: 'TEXT' },
      status: { type: 'string', description: 'Only those with this status, such as PLACED' },
      ...TIMES,
    },
    columns: [
      'id',
      'order_number',
      'status',
      'payment_status',
      'fulfillment_status',
      'total_price',
      'currency',
      'order_datetime',
    ],
    filter: ({ query, status, since, until }) => ({ query, status, since, until }),
  }),
  show: workspaceCommand({ description: 'Show an order', request: 'GET /orders/{id}', args: ORDER }),
  placement: workspaceCommand({
    description: 'Show why a paid order is not placed',
    request: 'GET /orders/{id}/placement',
    args: ORDER,
  }),
})

export const imports = commandGroup('Imports of a workspace', {
  list: workspaceCommand({
    description: 'List imports, newest first',
    request: 'GET /imports',
    columns: ['id', 'template', 'file', 'status', 'total_rows', 'processed_rows', 'updated_at'],
  }),
  show: workspaceCommand({ description: 'Show an import', request: 'GET /imports/{id}', args: IMPORT }),
  errors: workspaceCommand({
    description: 'Show what an import did, and the rows that it refused',
    request: 'GET /imports/{id}/errors',
    args: IMPORT,
  }),
})

export const endpoints = commandGroup('Webhook endpoints of a workspace, or of all', {
  list: workspaceCommand({
    description: 'List endpoints, newest first',
    request: 'GET /webhooks',
    columns: ['id', 'url', 'enabled_events', 'description', 'created_at'],
  }),
  show: workspaceCommand({ description: 'Show an endpoint', request: 'GET /webhooks/{id}', args: ENDPOINT }),
  health: apiCommand({
    description: 'List endpoints, worst first, and how many the workspace may have',
    request: 'GET /workspaces/{workspace}/endpoints',
    args: { workspace: idArgument("The workspace's id") },
  }),
  failing: apiCommand({
    description: 'List the endpoints of all workspaces that fail, or were disabled because they did, worst first',
    request: 'GET /endpoints',
    args: { state: { type: 'enum', options: ['DISABLED', 'FAILING'], description: 'Only those in this state' } },
    filter: ({ state }) => ({ state }),
    columns: ['id', 'workspace', 'url', 'state', 'reason', 'since', 'app', 'last_success_at', 'last_failure'],
  }),
  disable: workspaceCommand({
    description: 'Disable an endpoint; its deliveries wait until it is enabled',
    request: 'POST /webhooks/{id}/disable',
    args: { ...ENDPOINT, reason: { type: 'string', required: true, description: 'Why, for the audit log' } },
    reason: ({ reason }) => reason,
  }),
  status: workspaceCommand({
    description: 'Show whether an endpoint answers, how fast, and what waits for it',
    request: 'GET /webhooks/{id}/status',
    args: ENDPOINT,
  }),
})

export const deliveries = commandGroup('Webhook deliveries of a workspace', {
  list: workspaceCommand({
    description: 'List deliveries to all endpoints, newest first',
    request: 'GET /deliveries',
    args: {
      endpoint: { type: 'string', description: 'Only those to this endpoint', valueHint: 'ID' },
      event: { type: 'string', description: 'Only those of this event', valueHint: 'ID' },
      status: { type: 'string', description: 'Only those with this status, such as FAILED' },
      ...TIMES,
    },
    columns: [
      'id',
      'endpoint_id',
      'event_type',
      'status',
      'attempts_made',
      'response_status',
      'error_class',
      'created_at',
    ],
    filter: ({ endpoint, event, status, since, until }) => ({
      endpoint_id: endpoint === undefined ? undefined : id(endpoint),
      event_id: event === undefined ? undefined : id(event),
      status,
      since,
      until,
    }),
  }),
  show: workspaceCommand({
    description: 'Show a delivery with its attempts',
    request: 'GET /webhooks/{endpoint}/deliveries/{id}',
    args: { endpoint: idArgument("The endpoint's id"), id: idArgument("The delivery's id") },
  }),
})
