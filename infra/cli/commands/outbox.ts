import { apiCommand, commandGroup } from '../command/api-command.ts'
import { idArgument, list } from '../command/arguments.ts'

const SERVICE = idArgument('The service that publishes them')

export const outbox = commandGroup('Records that services have not published', {
  list: apiCommand({
    description: 'Count them by service, and name the services that did not answer',
    request: 'GET /outbox',
  }),
  refused: apiCommand({
    description: 'List those that a service could not publish with their reasons, oldest first, without their contents',
    request: 'GET /outbox/{service:name}/refused',
    args: { service: SERVICE },
    columns: ['id', 'at', 'topic', 'type', 'key', 'workspace', 'retry_at', 'overtaken', 'reason'],
  }),
  resend: apiCommand({
    description: 'Publish these again, once their schema is registered or their topic takes them',
    request: 'POST /outbox/{service:name}/resend',
    args: {
      service: SERVICE,
      ids: {
        type: 'string',
        description: 'Only these; unless given, all that no later record of their key has overtaken',
        valueHint: 'ID,ID',
      },
    },
    body: ({ ids }) => (ids === undefined ? {} : { ids: list(ids) }),
  }),
})
