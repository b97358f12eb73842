import { apiCommand } from '../command/api-command.ts'
import { id } from '../command/arguments.ts'

export const audit = apiCommand({
  description: 'List what operators, merchants and the platform did, newest first',
  request: 'GET /audit',
  args: {
    workspace: { type: 'string', description: 'Only acts on the workspace with this id', valueHint: 'ID' },
    actor: { type: 'string', description: 'Only acts of the operator with this name', valueHint: 'NAME' },
  },
  columns: ['at', 'who', 'actor', 'action', 'target', 'request_id'],
  filter: ({ workspace, actor }) => ({ workspace: workspace === undefined ? undefined : id(workspace), actor }),
})
