import { apiCommand } from '../command/api-command.ts'
import { id } from '../command/arguments.ts'

export const audit = apiCommand({
  description: 'List what operators, merchants and the platform did, newest first',
  request: 'GET /audit',
  args: {
    workspace: { type: 'string', description: 'Only acts on the workspace with this id', valueHint: 'ID' },
    actor: { type: 'string', description: 'Only acts of the operator with this name', valueHint: 'NAME' },
    action: { type: 'string', description: 'Only these acts, such as key.revoked', valueHint: 'ACTION' },
    target: { type: 'string', description: 'Only acts on this, such as keys/<id>', valueHint: 'PATH' },
    session: { type: 'string', description: 'Only those of a session of support', valueHint: 'ID' },
    since: { type: 'string', description: 'From this time on, such as 2027-01-31T00:00:00Z', valueHint: 'TIME' },
    until: { type: 'string', description: 'Before this time', valueHint: 'TIME' },
  },
  columns: ['at', 'who', 'actor', 'action', 'target', 'request_id'],
  filter: ({ workspace, ...filters }) => ({
    workspace: workspace === undefined ? undefined : id(workspace),
    actor: filters.actor,
    action: filters.action,
    target: filters.target,
    session: filters.session,
    since: filters.since,
    until: filters.until,
  }),
})
