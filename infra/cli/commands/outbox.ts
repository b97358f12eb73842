import { SERVICE_NAMES, SERVICES, type ServiceName, schemaOf } from '@backoffice/contracts/services.ts'
import { type RefusedRow, refusedRows, resendRefused } from '@backoffice/messaging/relay/refused-rows.ts'
import { checkedCommand, commandGroup } from '../command/api-command.ts'
import { list } from '../command/arguments.ts'
import { UsageError } from '../command/command-error.ts'
import { readableAnswer } from '../command/print-answer.ts'
import { asWorker, WITHOUT_A_STACK } from '../command/stack-services.ts'

const PUBLISHERS: ServiceName[] = SERVICE_NAMES.filter((name) => SERVICES[name].publishes.length > 0)
const COLUMNS = ['service', 'id', 'at', 'topic', 'type', 'key', 'workspace_id', 'retry_at', 'overtaken', 'reason']
/** Of each service. They have the same few reasons. */
const MOST_ROWS = 1000

export const outbox = commandGroup(`Records that services could not publish. ${WITHOUT_A_STACK}`, {
  list: checkedCommand(
    'List them with their reasons, oldest first, without their contents',
    {
      service: { type: 'enum', options: PUBLISHERS, description: 'Only those of one service' },
      json: { type: 'boolean', description: 'Print them as JSON' },
    },
    async (args, { environment, print }) => {
      const services = PUBLISHERS.filter((name) => args.service === undefined || name === args.service)
      const rowsOf = async (service: ServiceName) => {
        const rows: RefusedRow[] = await asWorker(service, environment, (sql) => refusedRows(sql, MOST_ROWS))
        return rows.map((row) => ({ service, ...row, at: row.at.toISOString(), retry_at: row.retry_at?.toISOString() }))
      }
      const items = (await Promise.all(services.map(rowsOf))).flat()
      print(args.json ? `${JSON.stringify({ items }, null, 2)}\n` : readableAnswer({ items }, COLUMNS))
    },
  ),
  resend: checkedCommand(
    'Publish them again, once their schema is registered or their topic takes them',
    {
      service: { type: 'enum', options: PUBLISHERS, description: 'The service that publishes them' },
      ids: {
        type: 'string',
        description: 'Only these; unless given, all that no later record of their key has overtaken',
        valueHint: 'ID,ID',
      },
    },
    async (args, { environment, print }) => {
      const ids = args.ids === undefined ? [] : list(args.ids).map(rowId)
      const service = args.service as ServiceName | undefined
      if (service === undefined) throw new UsageError('--service is missing: the service that publishes them')
      const count = await asWorker(service, environment, async (sql) => {
        const sent = await resendRefused(sql, ids)
        // The relay that leads listens.
        await sql.notify(`outbox_${schemaOf(service)}`, '')
        return sent
      })
      print(`${count} ${count === 1 ? 'record goes' : 'records go'} to the relay of ${service}\n`)
    },
  ),
})

/** The number of a row of the outbox. */
function rowId(value: string): string {
  if (!/^\d{1,18}$/.test(value)) throw new UsageError(`--ids: ${value} is no id: an id is a number of the list`)
  return value
}
