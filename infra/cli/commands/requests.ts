import { apiCommand, commandGroup } from '../command/api-command.ts'
import { idArgument } from '../command/arguments.ts'

export const requests = commandGroup('Requests of workspaces, of the last seven days', {
  show: apiCommand({
    description: 'Show a request by the X-Request-Id of its answer',
    request: 'GET /requests/{id}',
    args: { id: idArgument('The X-Request-Id') },
  }),
})
