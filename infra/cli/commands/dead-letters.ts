import { apiCommand, checkedCommand, commandGroup } from '../command/api-command.ts'
import { idArgument, list } from '../command/arguments.ts'
import { callApi } from '../command/call-api.ts'
import { connectionOf } from '../command/connection.ts'

const CONSUMER = idArgument('The consumer, such as webhook-delivery.fan-out')
const SINCE = {
  type: 'string',
  description: 'From this time on, such as 2027-01-31T00:00:00Z; a week ago unless given',
  valueHint: 'TIME',
} as const

export const deadLetters = commandGroup('Records that consumers could not process', {
  list: apiCommand({
    description: 'List the consumers that have some, and the services that did not answer',
    request: 'GET /dead-letters',
    args: { since: SINCE },
    filter: ({ since }) => ({ since }),
  }),
  of: apiCommand({
    description: 'List those of a consumer with their reasons, oldest first, without their contents',
    request: 'GET /consumers/{consumer:name}/dead-letters',
    args: { consumer: CONSUMER, since: SINCE },
    columns: ['id', 'at', 'topic', 'partition', 'offset', 'type', 'workspace', 'key', 'parked', 'replayed', 'reason'],
    filter: ({ since }) => ({ since }),
  }),
  show: apiCommand({
    description: 'Show one with its contents; the audit log has it',
    request: 'GET /dead-letters/{id:name}',
    args: { id: idArgument('The id of a dead letter') },
  }),
  replay: checkedCommand(
    'Send those of a consumer to their topics again, each once; remove the cause first',
    {
      consumer: CONSUMER,
      since: SINCE,
      ids: { type: 'string', description: 'Only these, at most 100', valueHint: 'ID,ID' },
      url: { type: 'string', description: "The gateway's address", valueHint: 'URL' },
    },
    async ({ consumer, since, ids, url }, { environment, print }) => {
      const connection = connectionOf(url, environment)
      const path = `/admin/v1/consumers/${encodeURIComponent(consumer)}/dead-letters/replay`
      const chosen = { since, ids: ids === undefined ? undefined : list(ids) }
      let [now, before, rest]: [number, number, string | null | undefined] = [0, 0, undefined]
      while (rest !== null) {
        const answer = await callApi(connection, { method: 'POST', path, body: { ...chosen, rest } })
        const replayed = answer as { replayed: number; replayed_before: number; rest: string | null }
        now += replayed.replayed
        before += replayed.replayed_before
        rest = replayed.rest
      }
      print(`dead letters of ${consumer} sent to their topics again: ${now}; sent by earlier runs: ${before}\n`)
    },
  ),
})
