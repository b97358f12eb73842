import { setTimeout as pause } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import type { ArgsDef } from 'citty'
import { apiCommand, checkedCommand, commandGroup } from '../command/api-command.ts'
import { idArgument, wholeNumber } from '../command/arguments.ts'
import { type ApiRequest, callApi } from '../command/call-api.ts'
import { CommandError } from '../command/command-error.ts'
import { connectionOf } from '../command/connection.ts'
import type { Surroundings } from '../command/surroundings.ts'

/** Members of the answer that the command prints. */
interface CheckRun {
  readonly id: string
  readonly state: 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED'
  readonly checked: Readonly<Record<string, number>>
  readonly found: number
  readonly findings: readonly object[]
  readonly error: string | null
}

const text = (description: string, valueHint: string) => ({ type: 'string', description, valueHint }) as const

const RECONCILE = {
  since: text('The first event; a day before the last one unless given', 'TIME'),
  until: text('The last event; now unless given', 'TIME'),
  workspace: text('Only the events of this workspace', 'ID'),
  margin: text('Between an event and its publication at most; 60 unless given', 'MINUTES'),
  overdue: text('After which a delivery that is due is overdue; 10 unless given', 'MINUTES'),
  'kafka-prefix': text('Of the topics to read, or none; that of the services unless given', 'PREFIX'),
} as const satisfies ArgsDef

export const checks = commandGroup(
  'Checks of stored data, which write nothing. Each exits 1 when it finds something, and 2 when it could not finish',
  {
    'check-stock': checkCommand('check-stock', 'Compare the stock of all variants with their movements'),
    'check-orders': checkCommand(
      'check-orders',
      'Compare orders with their payments, refunds, invoices and reserved stock',
    ),
    'check-members': checkCommand('check-members', 'Compare the members of collections with their rules'),
    'check-apps': checkCommand('check-apps', 'Name the apps whose tokens another app could take for its own'),
    reconcile: checkCommand('reconcile', 'Compare events of the last day with their deliveries', RECONCILE),
    list: apiCommand({
      description: 'List the last run of each check, and the services that did not answer',
      request: 'GET /checks',
      lists: { runs: ['check', 'state', 'found', 'id', 'ended_at', 'error'] },
    }),
    show: apiCommand({
      description: 'Show a run with its findings',
      request: 'GET /checks/{check:name}/runs/{run}',
      args: { check: idArgument('The check'), run: idArgument('The id of a run') },
    }),
  },
)

/** A command that has a service run a check, waits for its end, and prints each finding as a line of JSON. */
function checkCommand(check: string, description: string, args: ArgsDef = {}) {
  const url = { type: 'string', description: "The gateway's address", valueHint: 'URL' } as const
  return checkedCommand(description, { ...args, url }, (given, surroundings) =>
    carryOut(given, surroundings).catch((error: unknown) => {
      if (!(error instanceof CommandError)) throw error
      surroundings.printError(`${check} could not finish: ${stripVTControlCharacters(error.message)}\n`)
      return 2
    }),
  )

  async function carryOut(given: object, { environment, print, printError }: Surroundings): Promise<number> {
    const options = given as Readonly<Record<string, string | undefined>>
    const connection = connectionOf(options.url, environment)
    const send = async (request: ApiRequest) => (await callApi(connection, request)) as CheckRun
    const path = `/admin/v1/checks/${check}/runs`
    const { since, until, workspace, margin, overdue, 'kafka-prefix': prefix } = options
    const body = {
      ...{ since, until, workspace, kafka_prefix: prefix === 'none' ? '' : prefix },
      margin_minutes: wholeNumber('margin', margin),
      overdue_minutes: wholeNumber('overdue', overdue),
    }
    let run = await send({ method: 'POST', path, body })
    let [state, failures]: [string, number] = ['', 0]
    for (let waitMs = FIRST_WAIT_MS; !isOver(run); waitMs = Math.min(2 * waitMs, LAST_WAIT_MS)) {
      if (run.state !== state) printError(`${check} ${run.id} is ${run.state}\n`)
      state = run.state
      await pause(waitMs)
      const asked = send({ method: 'GET', path: `${path}/${run.id}` })
      // The run goes on, and is taken over, while a service or the gateway starts again.
      run = await asked.catch((error: unknown) => {
        if (!(error instanceof CommandError) || ++failures > FAILURES) throw error
        return run
      })
    }
    for (const finding of run.findings) print(`${JSON.stringify(finding)}\n`)
    if (run.state === 'FAILED') throw new CommandError(String(run.error))
    const counts = Object.entries({ ...run.checked, found: run.found }).map(([name, count]) => `${name}: ${count}`)
    print(`${check}: ${counts.join(', ').replaceAll('_', ' ')}\n`)
    return run.found === 0 ? 0 : 1
  }
}

const [FIRST_WAIT_MS, LAST_WAIT_MS] = [100, 2000]
/** About a minute without an answer. */
const FAILURES = 30

const isOver = ({ state }: CheckRun) => state === 'SUCCEEDED' || state === 'FAILED'
